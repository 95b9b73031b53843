//! The contents of a credential book's pages, as pure functions from data to HTML.
//!
//! Owns: what these pages show and draw, JSON-LD, the site map. Does not own: the frame around a page and its style
//! sheet, which are of `selfsame-pages`; the data, which use cases return; routes and statuses.

pub mod entry;
pub mod keeping;
pub mod linked;
pub mod mapping;
mod picture;
pub mod search;
pub mod topic;

pub use askama::Template;

use selfsame_driver::{Error, Result};

/// The HTML of a page's content.
///
/// # Errors
/// `Internal` if a value of the page cannot be written as text.
pub fn render(content: &impl Template) -> Result<String> {
    content.render().map_err(Error::internal)
}

/// The day of a time of RFC 3339.
fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}
