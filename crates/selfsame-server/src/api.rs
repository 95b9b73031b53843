//! The API: everything that the pages do, for programs. One file for each resource.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

pub mod audit;
pub mod dids;
pub mod export;
pub mod instance;
pub mod issuer;
pub mod organisations;
pub mod people;
pub mod registry;
pub mod saved;
pub mod trust;
pub mod types;
pub mod verifier;
pub mod wallet;

pub use selfsame_http::listing::{Items, Page};
pub use selfsame_http::response::{created, done, json, told};
