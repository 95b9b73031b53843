//! What people see when they sign in, as pure functions from data to HTML.
//!
//! Owns: the templates of these pages, their messages in each language (`messages/`). Does not own: the style sheet and
//! the scripts, which are of `selfsame-pages`; the data, which use cases return; routes, sessions and statuses.

pub mod account;
pub mod clients;
pub mod code;
mod consent;
mod devices;
pub mod ended;
mod frame;
pub mod kept;
mod language;
mod plural;
mod said;
pub mod sample;
pub mod samples;
mod ways;

pub use askama::Template;
pub use consent::{ConsentClient, ConsentPage, OfferedChoice};
pub use devices::{PasskeyWayPage, WalletWayPage};
pub use frame::{PageFiles, PageOrganisation, SignInFrame};
pub use language::PageLanguage;
pub use said::Saying;
pub use ways::{CodeChannels, KnowledgeField, OtherWay, TypedWay, WayKind, WaysPage};

use selfsame_driver::{Error, Result};

/// The HTML of a page or of its content.
///
/// # Errors
/// `Internal` if a value of the page cannot be written as text.
pub fn render(page: &impl Template) -> Result<String> {
    page.render().map_err(Error::internal)
}
