//! The lists, and the form that begins one.

use askama::Template;
use selfsame_driver::Reason;
use selfsame_issuing_view::IssuingList;

use crate::PageBase;

/// The lists.
#[derive(Template)]
#[template(path = "lists.html")]
pub struct ListsContent {
    /// What all pages have.
    pub base: PageBase,
    /// The types that can be issued.
    pub types: Vec<ListType>,
    /// The id of the chosen type.
    pub chosen: String,
    /// Whether offers can be mailed.
    pub has_mail: bool,
    /// The most megabytes of a file that is sent with the form.
    pub megabytes: usize,
    /// The lists, newest first.
    pub lists: Vec<IssuingList>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// Why the last file was not taken.
    pub wrong: Option<Reason>,
}

/// A type to choose.
pub struct ListType {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
}

impl ListsContent {
    fn title<'a>(&'a self, id: &'a str) -> &'a str {
        let mut types = self.types.iter();
        types.find(|one| one.id == id).map_or(id, |one| &one.title)
    }

    fn told(&self) -> Option<String> {
        self.wrong.as_ref().map(selfsame_catalogue::english)
    }
}

/// Which badge a state has.
pub(crate) fn class(state: &str) -> &'static str {
    match state {
        "done" | "offered" | "mailed" => "active",
        "refused" | "mail_failed" => "revoked",
        "cancelled" => "expired",
        _ => "pending",
    }
}
