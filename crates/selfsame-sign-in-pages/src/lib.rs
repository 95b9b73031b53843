//! What people see when they sign in, as pure functions from data to HTML.
//!
//! Owns: the templates of these pages. Does not own: the style sheet and the scripts, which are of `selfsame-pages`; the
//! data, which use cases return; routes, sessions and statuses.

pub mod account;

pub use askama::Template;

use selfsame_driver::{Error, Result};

/// The HTML of a page or of its content.
///
/// # Errors
/// `Internal` if a value of the page cannot be written as text.
pub fn render(page: &impl Template) -> Result<String> {
    page.render().map_err(Error::internal)
}
