//! The pages of a book, for anybody.

use axum::extract::RawQuery;
use axum::response::{Html, IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_book_pages::entry::EntryContent;
use selfsame_book_pages::linked::{site_index, site_map};
use selfsame_book_pages::search::SearchContent;
use selfsame_book_pages::topic::TopicContent;
use selfsame_book_pages::{Template, render};
use selfsame_book_role::{SETS_MAX, Search};
use selfsame_book_view::v4::FacetLists;
use selfsame_book_view::{ProvenEntry, TopicRange};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Path, Query};
use selfsame_pages::Frame;
use selfsame_pages::content::{Content, ContentPage};
use serde::Deserialize;
use url::form_urlencoded;

use crate::here::BookHere;

/// Addresses in one part of the site map, at most.
const SITE_PART: usize = 50_000;
/// How long a crawler may keep the site map.
const SITE_AGE: &str = "public, max-age=3600";

/// Where the list of a topic's credentials goes on.
#[derive(Deserialize)]
pub struct Onward {
    after: Option<i64>,
}

/// The search, with its results once something is searched for.
pub async fn search(
    BookHere { book, prefix }: BookHere,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Handled {
    let query = query.unwrap_or_default();
    let mut content = typed(prefix, &query);
    if !query.is_empty() {
        let search = Search::of(form_urlencoded::parse(query.as_bytes()))?;
        let found = book.browse(&search).await?;
        content.corrected = found.corrected;
        content.facets = found.facets.facets.fields;
        content.found = Some(found.facets.objects);
    }
    page(frame, "Credential book", &content)
}

/// What was typed into the search, without results.
fn typed(here: String, query: &str) -> SearchContent {
    let mut content = SearchContent {
        here,
        text: String::new(),
        categories: Vec::new(),
        found: None,
        facets: FacetLists::default(),
        corrected: false,
    };
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "q" => content.text = value.into_owned(),
            "category" => content.categories.push(value.into_owned()),
            _ => {}
        }
    }
    content
}

/// A topic.
pub async fn topic(
    BookHere { book, prefix }: BookHere,
    frame: Frame,
    Path(id): Path<i64>,
    Query(Onward { after }): Query<Onward>,
) -> Handled {
    let topic = book.found(id).await?;
    let sets = book.sets(id, after).await?;
    let title = topic.names.first().map(|name| name.text.clone());
    let title = title.unwrap_or_else(|| topic.source_id.clone());
    let content = TopicContent {
        here: prefix,
        url: format!("{}book/topic/{id}", book.base()),
        neighbours: book.neighbours(id).await?,
        more: sets
            .last()
            .filter(|_| sets.len() == SETS_MAX)
            .map(|set| set.id),
        topic,
        sets,
    };
    page(frame, &title, &content)
}

/// What is done with an entry when it is shown.
enum Showing {
    Alone,
    Verified,
    Proven(ProvenEntry),
}

/// An entry.
pub async fn entry(here: BookHere, frame: Frame, Path(id): Path<String>) -> Handled {
    shown(here, frame, &id, Showing::Alone).await
}

/// An entry, verified now.
pub async fn verify(here: BookHere, frame: Frame, Path(id): Path<String>) -> Handled {
    shown(here, frame, &id, Showing::Verified).await
}

/// Has an entry proven to the verifier whose request is in the form.
pub async fn prove(here: BookHere, frame: Frame, Path(id): Path<String>, form: Form) -> Handled {
    let proven = here.book.prove(&id, form.needed("request")?).await?;
    shown(here, frame, &id, Showing::Proven(proven)).await
}

async fn shown(
    BookHere { book, prefix }: BookHere,
    frame: Frame,
    id: &str,
    showing: Showing,
) -> Handled {
    let credential = book.credential(id).await?;
    let (verified, proven) = match showing {
        Showing::Alone => (None, None),
        Showing::Verified => (Some(book.verify(id).await?), None),
        Showing::Proven(proven) => (None, Some(proven)),
    };
    let title = credential.credential_type.description.clone();
    let content = EntryContent {
        here: prefix,
        topic: book.topic_of(id).await?,
        credential,
        verified,
        proven,
    };
    page(frame, &title, &content)
}

/// The site map.
pub async fn site(BookHere { book, .. }: BookHere) -> Handled {
    let ranges = book.topic_ranges().await?;
    Ok(xml(site_index(book.base().as_str(), &ranges)))
}

/// A part of the site map.
pub async fn site_part(
    BookHere { book, .. }: BookHere,
    Path([from, to]): Path<[i64; 2]>,
) -> Handled {
    let topics = book.topics_in(TopicRange { from, to }, SITE_PART).await?;
    Ok(xml(site_map(book.base().as_str(), &topics)))
}

fn xml(text: String) -> Response {
    let about = [(CONTENT_TYPE, "application/xml"), (CACHE_CONTROL, SITE_AGE)];
    (about, text).into_response()
}

/// A content as a response, with the frame around it.
pub(crate) fn page(frame: Frame, title: &str, content: &impl Template) -> Handled {
    let content = Content {
        title: title.to_owned(),
        is_failed: false,
        main: render(content)?,
    };
    html(&ContentPage::of(frame, content))
}

/// A page as a response.
pub(crate) fn html(page: &ContentPage) -> Handled {
    Ok(Html(selfsame_pages::render(page)?).into_response())
}
