//! What happened on the wire: recorded at the addresses of protocols, and shown.
//!
//! Owns: which addresses are steps of a flow, by which paragraphs; the addresses of the pages and of the API. Does not
//! own: what of a message is kept, who may use an address, HTML.

mod api;
mod here;
mod pages;
pub mod routes;
mod steps;
mod watch;

pub use api::NewWireSwitch;
pub use here::WireHere;
pub use selfsame_wire::{RecordedFlow, RecordedSummary, WireSwitch};
pub use watch::watched;
