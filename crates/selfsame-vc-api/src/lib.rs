//! The W3C's HTTP API for credentials (VCALM 1.0, formerly VC-API).
//!
//! Owns: the addresses and their descriptions, what a body may contain, and how results and problems are written. Does not
//! own: what is signed and what is verified (selfsame-w3c), and who may call.

mod answer;
mod bodies;
mod calls;
mod config;
mod here;
pub mod routes;

pub use bodies::CallBody;
pub use config::{RefusedStatus, VcApiConfig, VcApiFace};
pub use here::VcApiHere;
