//! Searches: a query that names one thing redirects to it, any other lists results; and Indy's three ledgers in pages.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_did::Did;
use selfsame_ledger::browse::{Browser, IndyLedger, SearchCriteria, Type, ViewPage};
use selfsame_ledger::view::browse::FoundView;
use serde::Deserialize;

use super::{Frame, KINDS};
use crate::error::{Handled, Problem};
use crate::extract::{Path, Query};
use crate::protocol::von_network::query::{OnPage, view_named};
use crate::server::Server;

const ON_PAGE: u64 = 25;

#[derive(Template)]
#[template(path = "registry_search.html")]
struct SearchPage {
    frame: Frame,
    part: &'static str,
    q: String,
    kind: String,
    found: FoundView,
    /// The query of the next page.
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "registry_view.html")]
struct ViewTemplate {
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
    let browser = Browser::of(&**server.registry()?)?;
    if let (Some(there), "") = (direct(&browser, wanted.q.trim())?, wanted.kind.as_str()) {
        return Ok(there);
    }
    let search = wanted.search()?;
    let found = browser.search(&search, wanted.before, ON_PAGE).await?;
    super::super::html(&SearchPage {
        frame: frame.titled("Search"),
        part: "",
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
        None if q.contains('/') => browser.key_of(q).and(super::link(q)),
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
    let view = view_named(&name)?;
    let page = asked.page(ON_PAGE);
    let browser = Browser::of(&**server.registry()?)?;
    let found = browser.view(view, &page).await?;
    let types = Type::ALL.into_iter().filter(|kind| kind.view() == view);
    super::super::html(&ViewTemplate {
        frame: frame.titled(heading(view)),
        part: view.name(),
        q: page.text.unwrap_or_default().to_owned(),
        kind: page.kind.map_or("", Type::code).to_owned(),
        types: types.collect(),
        page: page.page,
        pages: found.total.div_ceil(page.size).max(1),
        rest: rest(&page),
        found,
    })
}

fn rest(page: &ViewPage<'_>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("query", page.text.unwrap_or_default());
    query.append_pair("type", page.kind.map_or("", Type::code));
    query
        .append_pair("page_size", &page.size.to_string())
        .finish()
}

/// The title of a view.
pub fn heading(view: IndyLedger) -> &'static str {
    match view {
        IndyLedger::Domain => "Domain ledger",
        IndyLedger::Pool => "Pool ledger",
        IndyLedger::Config => "Config ledger",
    }
}
