//! Pages: what people see, as pure functions from data to HTML.
//!
//! Owns: templates, the style sheet and the scripts, the frame around every page, and what pages say and draw: verdicts
//! in words, QR codes, pictures of the registry. Does not own: routes, sessions, cookies and statuses, which are of
//! `selfsame-server`; the data, which use cases return; and the sentences of reasons, which are of
//! `selfsame-catalogue`.

pub mod assets;
pub mod audit;
pub mod content;
pub mod frame;
pub mod home;
pub mod issuer;
mod look;
pub mod operator;
mod operator_role;
pub mod organisation;
pub mod people;
mod pictogram;
pub mod problem;
pub mod qr;
pub mod reference;
pub mod registry;
pub mod resolver;
mod text;
pub mod types;
mod verdict;
pub mod verifier;
pub mod wallet;
pub mod webhooks;
mod wrong;

pub use askama::Template;
pub use frame::Frame;
pub use wrong::{WrongField, WrongFields};

use selfsame_driver::{Error, Result};

/// The HTML of a page.
///
/// # Errors
/// `Internal` if a value of the page cannot be written as text.
pub fn render(page: &impl Template) -> Result<String> {
    page.render().map_err(Error::internal)
}
