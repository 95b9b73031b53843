//! The contents of an issuer's pages about many credentials, as pure functions from data to HTML.
//!
//! Owns: what these pages show. Does not own: the frame around a page and its style sheet, which are of
//! `selfsame-pages`; the data, which use cases return; routes and statuses.

pub mod approvals;
pub mod issued;
pub mod list;
pub mod lists;

pub use askama::Template;

use selfsame_driver::{Error, Result};

/// What all these pages have.
#[derive(Clone, Debug, Default)]
pub struct PageBase {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// The token of the session's forms.
    pub form: String,
}

/// The HTML of a page's content.
///
/// # Errors
/// `Internal` if a value of the page cannot be written as text.
pub fn render(content: &impl Template) -> Result<String> {
    content.render().map_err(Error::internal)
}

/// A state for people.
fn words(state: &str) -> String {
    state.replace('_', " ")
}
