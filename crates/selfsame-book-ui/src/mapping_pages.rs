//! The page on which people edit how a type appears in the book.

use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_book::BookMapping;
use selfsame_book::editor::read;
use selfsame_book_pages::mapping::{EditorParts, MappingContent};
use selfsame_book_role::EditedMapping;
use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_http::correction::refused;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Path, Query};
use selfsame_pages::Frame;
use selfsame_pages::content::{Content, ContentPage};
use serde::Deserialize;

use crate::here::BookHere;
use crate::mapping::shown;
use crate::pages::html;

const TITLE: &str = "In the credential book";

/// What was done before the page is shown.
#[derive(Deserialize)]
pub struct DoneBefore {
    done: Option<String>,
}

impl DoneBefore {
    fn notice(&self) -> Option<&'static str> {
        match self.done.as_deref()? {
            "saved" => Some("Saved in the draft. It holds once the draft is published."),
            "removed" => Some("Taken out of the draft. It holds once the draft is published."),
            _ => None,
        }
    }
}

/// The mapping with which people begin: an empty form, whose credentials can be the first ones about a topic.
fn blank() -> BookMapping {
    read(|name| (name == "topic.founds").then_some("true"))
}

/// How the form is shown.
#[derive(Clone, Copy, Default)]
struct ToldAbove {
    /// What is told above it.
    notice: Option<&'static str>,
    /// Whether what is wrong is told.
    is_judged: bool,
}

/// The editor, with the mapping of the draft or of the newest version.
pub async fn edit(
    here: BookHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(before): Query<DoneBefore>,
) -> Handled {
    let edited = here.book.edited(&id).await?;
    let mapping = edited.mapping().cloned().unwrap_or_else(blank);
    let told = ToldAbove {
        notice: before.notice(),
        is_judged: false,
    };
    let editing = Editing {
        edited: &edited,
        mapping: &mapping,
    };
    let content = content(&here, &frame, editing, told);
    framed(frame, &content)
}

/// Checks, saves, or takes the type out of the book, as the pressed button says.
pub async fn change(here: BookHere, frame: Frame, Path(id): Path<String>, form: Form) -> Handled {
    let button = form.one("do").unwrap_or_default();
    if button == "remove" {
        here.book.save_mapping(&id, None).await?;
        return Ok(saved(&id, "removed"));
    }
    let (edited, mapping) = (here.book.edited(&id).await?, read(|name| form.one(name)));
    let refusal = edited.preview(&mapping).refusal();
    if button == "save" && refusal.is_none() {
        here.book.save_mapping(&id, Some(mapping)).await?;
        return Ok(saved(&id, "saved"));
    }
    let editing = Editing {
        edited: &edited,
        mapping: &mapping,
    };
    let told = ToldAbove {
        notice: Some("Nothing is wrong with it. It is not saved yet."),
        is_judged: true,
    };
    let content = content(&here, &frame, editing, told);
    marked(framed(frame, &content)?, refusal)
}

/// A page with the status of what was refused, if something was.
fn marked(page: Response, refusal: Option<Reason>) -> Handled {
    Ok(match refusal {
        Some(reason) => refused(&Error::of(ErrorKind::BadRequest, reason).into(), page),
        None => page,
    })
}

fn saved(id: &str, done: &str) -> Response {
    let there = format!("/types/view/{id}/book?done={done}");
    Redirect::to(&there).into_response()
}

/// A type, and its mapping as it is edited.
struct Editing<'a> {
    edited: &'a EditedMapping,
    mapping: &'a BookMapping,
}

fn content(
    here: &BookHere,
    frame: &Frame,
    editing: Editing<'_>,
    told: ToldAbove,
) -> MappingContent {
    let Editing { edited, mapping } = editing;
    let definition = &edited.definition;
    MappingContent::of(EditorParts {
        here: here.prefix.clone(),
        form: frame.form.clone(),
        type_id: &definition.id,
        title: definition.name(),
        claims: edited.claims(),
        mapping,
        is_in_book: edited.mapping().is_some(),
        notice: told.notice,
        preview: shown(&edited.preview(mapping)),
        is_judged: told.is_judged,
    })
}

fn framed(frame: Frame, content: &MappingContent) -> Handled<Response> {
    let content = Content {
        title: TITLE.to_owned(),
        is_failed: content.is_failed(),
        main: selfsame_book_pages::render(content)?,
    };
    html(&ContentPage::of(frame, content))
}
