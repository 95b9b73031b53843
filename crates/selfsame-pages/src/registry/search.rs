//! Searches, and Indy's three ledgers in pages.

use askama::Template;
use selfsame_ledger::browse::{IndyLedger, Type, ViewPage};
use selfsame_ledger::view::browse::FoundView;

use crate::Frame;

/// The results of a search.
#[derive(Template)]
#[template(path = "registry_search.html")]
pub struct SearchPage {
    /// What stands around it.
    pub frame: Frame,
    /// The words that were looked for.
    pub q: String,
    /// The kind that was looked for; empty for all.
    pub kind: String,
    /// What was found.
    pub found: FoundView,
    /// The query of the next page.
    pub next: Option<String>,
}

/// A page of one of Indy's ledgers.
#[derive(Template)]
#[template(path = "registry_view.html")]
pub struct LedgerPage {
    frame: Frame,
    part: &'static str,
    q: String,
    kind: String,
    types: Vec<Type>,
    found: FoundView,
    page: u64,
    pages: u64,
    /// The query without the cursor.
    rest: String,
}

impl LedgerPage {
    /// The page of this ledger that was asked for, with what was found.
    pub fn of(frame: Frame, ledger: IndyLedger, asked: &ViewPage<'_>, found: FoundView) -> Self {
        let types = Type::ALL.into_iter();
        Self {
            frame: frame.titled(heading(ledger)),
            part: ledger.name(),
            q: asked.text.unwrap_or_default().to_owned(),
            kind: asked.kind.map_or("", Type::code).to_owned(),
            types: types.filter(|kind| kind.view() == ledger).collect(),
            page: asked.page,
            pages: found.total.div_ceil(asked.size).max(1),
            rest: rest(asked),
            found,
        }
    }
}

fn rest(page: &ViewPage<'_>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("query", page.text.unwrap_or_default());
    query.append_pair("type", page.kind.map_or("", Type::code));
    query
        .append_pair("page_size", &page.size.to_string())
        .finish()
}

/// The title of a ledger.
fn heading(ledger: IndyLedger) -> &'static str {
    match ledger {
        IndyLedger::Domain => "Domain ledger",
        IndyLedger::Pool => "Pool ledger",
        IndyLedger::Config => "Config ledger",
    }
}
