//! The search of what was issued, and the question before many statuses change.

use askama::Template;
use selfsame_openid::view::issuer::{CredentialStatus, IssuedCredential};

use crate::PageBase;

/// What is searched for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct IssuedSearch {
    /// Words of a reference.
    pub words: String,
    /// A status; empty for any.
    pub status: String,
    /// The id of a type; empty for any.
    pub type_id: String,
}

/// Something with a title, to choose.
pub struct Titled {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
}

/// A credential with the title of its type.
pub struct IssuedLine {
    /// The title of its type.
    pub title: String,
    /// The credential.
    pub one: IssuedCredential,
}

/// The search with what it found.
#[derive(Template)]
#[template(path = "issued.html")]
pub struct IssuedContent {
    /// What all pages have.
    pub base: PageBase,
    /// What is searched for.
    pub search: IssuedSearch,
    /// The types.
    pub types: Vec<Titled>,
    /// What was found.
    pub found: Vec<IssuedLine>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// The question whether many statuses shall change.
#[derive(Template)]
#[template(path = "issued_ask.html")]
pub struct AskContent {
    /// What all pages have.
    pub base: PageBase,
    /// The new status.
    pub status: &'static str,
    /// Within how many seconds verifiers see it.
    pub within: u64,
    /// The credentials.
    pub chosen: Vec<IssuedLine>,
}

/// A status to choose.
struct StatusChoice {
    name: &'static str,
    is_chosen: bool,
}

impl IssuedSearch {
    fn statuses(&self) -> Vec<StatusChoice> {
        let choice = |status: CredentialStatus| StatusChoice {
            name: status.as_str(),
            is_chosen: self.status == status.as_str(),
        };
        [
            CredentialStatus::Valid,
            CredentialStatus::Suspended,
            CredentialStatus::Revoked,
        ]
        .map(choice)
        .into()
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl IssuedLine {
    /// Whose it is, or else its number.
    fn named(&self) -> String {
        match &self.one.label {
            Some(label) => label.clone(),
            None => format!("number {}", self.one.status_index),
        }
    }
}

impl AskContent {
    fn act(&self) -> &'static str {
        match self.status {
            "revoked" => "Revoke",
            "suspended" => "Suspend",
            _ => "Reinstate",
        }
    }

    fn consequence(&self) -> String {
        let within = self.within;
        match self.status {
            "revoked" => {
                format!("Verifiers will refuse them within {within} seconds. It can’t be undone.")
            }
            "suspended" => format!(
                "Verifiers will refuse them within {within} seconds, until you reinstate them."
            ),
            _ => format!("Verifiers will accept them again within {within} seconds."),
        }
    }
}
