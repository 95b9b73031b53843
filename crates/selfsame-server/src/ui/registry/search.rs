//! Searches: a query that names one thing redirects to it, any other lists results; and Indy's three ledgers in pages.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_did::Did;
use selfsame_endpoints::von_network::query::{OnPage, view_named};
use selfsame_ledger::browse::{Browser, SearchCriteria};
use selfsame_pages::registry::search::{LedgerPage, SearchPage};
use selfsame_pages::registry::{KINDS, link};
use serde::Deserialize;

use crate::error::{Handled, Problem};
use crate::extract::{Path, Query};
use crate::server::Server;
use crate::ui::{self, Frame};

const ON_PAGE: u64 = 25;

/// What is looked for.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SearchedFor {
    q: String,
    kind: String,
    before: Option<u64>,
}

/// The results of a search. The number, hash or name of an object redirects to its page.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(wanted): Query<SearchedFor>,
) -> Handled {
    let browser = server.browser()?;
    if let (Some(there), "") = (direct(&browser, wanted.q.trim())?, wanted.kind.as_str()) {
        return Ok(there);
    }
    let search = wanted.search()?;
    let found = browser.search(&search, wanted.before, ON_PAGE).await?;
    ui::html(&SearchPage {
        frame: frame.titled("Search"),
        next: found.next.map(|before| wanted.next(before)),
        q: wanted.q.trim().to_owned(),
        kind: wanted.kind,
        found,
    })
}

impl SearchedFor {
    fn search(&self) -> Handled<SearchCriteria<'_>> {
        if !self.kind.is_empty() && !KINDS.iter().any(|(kind, _)| *kind == self.kind) {
            return Err(Problem::bad_request("operation-kind-unknown"));
        }
        let q = self.q.trim();
        let is_did = q.parse::<Did>().is_ok();
        Ok(SearchCriteria {
            text: Some(q).filter(|text| !text.is_empty() && !is_did),
            kind: Some(self.kind.as_str()).filter(|kind| !kind.is_empty()),
            did: Some(q).filter(|_| is_did),
        })
    }

    /// The query of the page that begins there.
    fn next(&self, before: u64) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("q", self.q.trim());
        query.append_pair("kind", &self.kind);
        query.append_pair("before", &before.to_string()).finish()
    }
}

/// The page of the one thing that a text names: a transaction by number or hash, an object by its name.
fn direct(browser: &Browser<'_>, q: &str) -> Handled<Option<Response>> {
    let transaction = match q.parse::<u64>() {
        Ok(seq_no) if (1..=browser.head()?.1).contains(&seq_no) => Some(seq_no),
        _ => browser.by_hash(q)?,
    };
    let there = match transaction {
        Some(seq_no) => Some(format!("/registry/view/{seq_no}")),
        None if q.contains('/') => browser.key_of(q).and(link(q)),
        None => None,
    };
    Ok(there.map(|there| Redirect::to(&there).into_response()))
}

/// One of Indy's ledgers, as a page.
pub async fn view(
    State(server): State<Server>,
    frame: Frame,
    Path(name): Path<String>,
    OnPage(asked): OnPage,
) -> Handled {
    let ledger = view_named(&name)?;
    let page = asked.page(ON_PAGE);
    let browser = server.browser()?;
    let found = browser.view(ledger, &page).await?;
    ui::html(&LedgerPage::of(frame, ledger, &page, found))
}
