//! The contents of an agent's pages, as pure functions from data to HTML.
//!
//! Owns: what these pages show and draw: connections, invitations, exchanges message by message, revocation registries;
//! states, findings and differences in words; and, in the same drawing, the recorded flows of OpenID. Does not own: the
//! frame around a page, its style sheet and QR codes, which are of `selfsame-pages`; the data, which use cases return;
//! routes, sessions and statuses.

pub mod ask;
mod base;
pub mod connection;
pub mod connections;
mod difference;
pub mod exchange;
pub mod exchanges;
pub mod invitations;
pub mod issue;
mod picture;
pub mod registries;
pub mod registry;
pub mod wire;
mod words;

pub use askama::Template;
pub use base::{PageBase, PageRights, WrongEntry};
pub use words::name as peer_name;

use selfsame_driver::{Error, Result};

/// The HTML of a page's content.
///
/// # Errors
/// `Internal` if a value of the page cannot be written as text.
pub fn render(content: &impl Template) -> Result<String> {
    content.render().map_err(Error::internal)
}
