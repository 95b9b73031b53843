//! The API: everything that the pages do, for programs. One file for each resource.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

pub mod dids;
pub mod instance;
pub mod issuer;
pub mod registry;
pub mod verifier;
pub mod wallet;

use selfsame_catalogue::{Language, tell};
use selfsame_driver::Reason;

pub use selfsame_http::listing::{Items, Page};
pub use selfsame_http::response::{created, done, json};

/// Puts sentences in the places of reasons.
fn told<'r>(reasons: impl IntoIterator<Item = &'r mut Reason>) {
    for reason in reasons {
        tell(Language::English, reason);
    }
}
