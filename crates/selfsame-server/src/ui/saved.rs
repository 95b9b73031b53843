//! The pages of saved requests: shown, drawn again after a button, saved, opened and deleted.

use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_driver::Reason;
use selfsame_openid::view::saved::{RequestOpening, SavedRequest};
use selfsame_pages::verifier::saved::editor::RequestForm;
use selfsame_pages::verifier::saved::{EditedRequest, SavedRequestPage};
use selfsame_saved_requests::FormReview;

use super::Frame;
use super::types::After;
use super::types::editor::EditorValues;
use crate::error::Handled;
use crate::extract::{Form, Path, Query};
use crate::here::Here;

/// What is known of a saved request beside its form.
#[derive(Default)]
struct KnownRequest {
    saved: Option<SavedRequest>,
    version: Option<u64>,
    problems: Vec<Reason>,
    notice: Option<&'static str>,
}

impl KnownRequest {
    fn of(saved: SavedRequest) -> Self {
        Self {
            version: Some(saved.version),
            saved: Some(saved),
            ..Self::default()
        }
    }
}

/// The form of a new request.
pub async fn new(server: Here, frame: Frame) -> Handled {
    let types = server.verifier()?.types().await?;
    show(
        &server,
        frame,
        RequestForm::new(&types),
        KnownRequest::default(),
    )
    .await
}

/// The form of a saved request.
pub async fn edit(
    server: Here,
    frame: Frame,
    Path(name): Path<String>,
    Query(after): Query<After>,
) -> Handled {
    let verifier = server.verifier()?;
    let saved = server.saved()?.one(&name).await?;
    let form = RequestForm::of(&saved.definition, &*verifier.types().await?);
    let known = KnownRequest {
        notice: after.is("saved").then_some("The request is saved."),
        ..KnownRequest::of(saved)
    };
    show(&server, frame, form, known).await
}

/// Does what the pressed button of a new request says.
pub async fn create(server: Here, frame: Frame, form: Form) -> Handled {
    press(&server, frame, &form, KnownRequest::default()).await
}

/// Does what the pressed button of a saved request says.
pub async fn change(server: Here, frame: Frame, Path(name): Path<String>, form: Form) -> Handled {
    let saved = server.saved()?.one(&name).await?;
    let known = KnownRequest {
        version: form.one("version").and_then(|version| version.parse().ok()),
        ..KnownRequest::of(saved)
    };
    press(&server, frame, &form, known).await
}

/// Creates a request from a saved one.
pub async fn open(server: Here, Path(name): Path<String>) -> Handled {
    let opening = RequestOpening::default();
    let opened = server.saved()?.open(&name, &opening);
    Ok(Redirect::to(&format!("/verifier/view/{}", opened.await?.id)).into_response())
}

/// Deletes a saved request.
pub async fn delete(server: Here, Path(name): Path<String>) -> Handled {
    server.saved()?.delete(&name).await?;
    Ok(Redirect::to("/verifier").into_response())
}

async fn press(server: &Here, frame: Frame, sent: &Form, mut known: KnownRequest) -> Handled {
    let types = server.verifier()?.types().await?;
    let mut form = RequestForm::read(&EditorValues(sent), &types);
    if let Some(saved) = &known.saved {
        form.name.clone_from(&saved.definition.name);
    }
    match sent.one("do").unwrap_or("show") {
        "show" => {}
        "check" => known.notice = Some("Nothing is wrong with it. It is not saved yet."),
        "save" => {
            match server
                .saved()?
                .save_form(form.definition(), known.version)
                .await?
            {
                Ok(saved) => return Ok(saved_as(&saved.definition.name)),
                Err(reason) => known.problems.push(reason),
            }
        }
        button => form.press(button, &types),
    }
    show(server, frame, form, known).await
}

fn saved_as(name: &str) -> Response {
    Redirect::to(&format!("/verifier/saved/{name}?done=saved")).into_response()
}

/// The form with all that is wrong, if a person wanted to know, and with what a holder would be shown.
async fn show(server: &Here, frame: Frame, form: RequestForm, mut known: KnownRequest) -> Handled {
    let verifier = server.verifier()?;
    let is_asked = known.notice.is_some() || !known.problems.is_empty();
    let FormReview { found, refusals } = server.saved()?.review_form(form.definition()).await?;
    if is_asked && !refusals.is_empty() {
        known.problems = refusals;
    }
    let types = verifier.types().await?;
    let edited = EditedRequest {
        form,
        saved: known.saved.as_ref(),
        version: known.version,
        types: &types,
        problems: known.problems,
        found,
        notice: known.notice,
    };
    super::html(&SavedRequestPage::of(frame, edited))
}
