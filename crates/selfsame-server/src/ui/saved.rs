//! The pages of saved requests: shown, drawn again after a button, saved, opened and deleted.

use axum::response::{IntoResponse as _, Redirect};
use selfsame_driver::{ErrorKind, Reason};
use selfsame_openid::saved::editor::RequestForm;
use selfsame_openid::view::saved::{RequestOpening, SavedRequest};
use selfsame_pages::saved::{EditedRequest, SavedRequestPage};

use super::Frame;
use super::types::After;
use super::types::editor::EditorValues;
use crate::error::Handled;
use crate::extract::{Form, Path, Query};
use crate::here::Here;

/// What is known of a saved request beside its form.
#[derive(Default)]
struct Around {
    saved: Option<SavedRequest>,
    version: Option<u64>,
    problems: Vec<Reason>,
    notice: Option<&'static str>,
}

impl Around {
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
    show(&server, frame, RequestForm::new(&types), Around::default()).await
}

/// The form of a saved request.
pub async fn edit(
    server: Here,
    frame: Frame,
    Path(name): Path<String>,
    Query(after): Query<After>,
) -> Handled {
    let verifier = server.verifier()?;
    let saved = verifier.saved_request(&name).await?;
    let form = RequestForm::of(&saved.definition, &*verifier.types().await?);
    let around = Around {
        notice: after.is("saved").then_some("The request is saved."),
        ..Around::of(saved)
    };
    show(&server, frame, form, around).await
}

/// Does what the pressed button of a new request says.
pub async fn create(server: Here, frame: Frame, form: Form) -> Handled {
    press(&server, frame, &form, Around::default()).await
}

/// Does what the pressed button of a saved request says.
pub async fn change(server: Here, frame: Frame, Path(name): Path<String>, form: Form) -> Handled {
    let saved = server.verifier()?.saved_request(&name).await?;
    let around = Around {
        version: form.one("version").and_then(|version| version.parse().ok()),
        ..Around::of(saved)
    };
    press(&server, frame, &form, around).await
}

/// Creates a request from a saved one.
pub async fn open(server: Here, Path(name): Path<String>) -> Handled {
    let opening = RequestOpening::default();
    let opened = server.verifier()?.open_saved_request(&name, &opening);
    Ok(Redirect::to(&format!("/verifier/view/{}", opened.await?.id)).into_response())
}

/// Deletes a saved request.
pub async fn delete(server: Here, Path(name): Path<String>) -> Handled {
    server.verifier()?.delete_saved_request(&name).await?;
    Ok(Redirect::to("/verifier").into_response())
}

async fn press(server: &Here, frame: Frame, sent: &Form, mut around: Around) -> Handled {
    let types = server.verifier()?.types().await?;
    let mut form = RequestForm::read(&EditorValues(sent), &types);
    if let Some(saved) = &around.saved {
        form.name.clone_from(&saved.definition.name);
    }
    match sent.one("do").unwrap_or("show") {
        "show" => {}
        "check" => around.notice = Some("Nothing is wrong with it. It is not saved yet."),
        "save" => match save(server, &form, &around).await? {
            Ok(name) => {
                let address = format!("/verifier/saved/{name}?done=saved");
                return Ok(Redirect::to(&address).into_response());
            }
            Err(reason) => around.problems.push(reason),
        },
        button => {
            form.press(button, &types);
            return show(server, frame, form, around).await;
        }
    }
    show(server, frame, form, around).await
}

/// Saves the form; a refusal that a person can put right is shown on the form.
async fn save(
    server: &Here,
    form: &RequestForm,
    around: &Around,
) -> Handled<Result<String, Reason>> {
    let definition = match form.definition() {
        Ok(definition) => definition,
        Err(reason) => return Ok(Err(reason)),
    };
    let verifier = server.verifier()?;
    let saved = match &around.saved {
        None => verifier.save_new_request(&definition).await,
        Some(saved) => {
            let name = &saved.definition.name;
            let replaced = verifier.replace_saved_request(name, &definition, around.version);
            replaced.await
        }
    };
    match saved {
        Ok(saved) => Ok(Ok(saved.definition.name)),
        Err(error) if matches!(error.kind, ErrorKind::BadRequest | ErrorKind::Conflict) => {
            Ok(Err(error.reason))
        }
        Err(error) => Err(error.into()),
    }
}

/// The form with all that is wrong, if a person wanted to know, and with what a holder would be shown.
async fn show(server: &Here, frame: Frame, form: RequestForm, mut around: Around) -> Handled {
    let verifier = server.verifier()?;
    let is_asked = around.notice.is_some() || !around.problems.is_empty();
    let reviewed = match form.definition() {
        Ok(definition) => verifier.review_saved_request(&definition).await?,
        Err(reason) => Err(vec![reason]),
    };
    let found = match reviewed {
        Ok(found) => Some(found),
        Err(refusals) if is_asked => {
            around.problems = refusals;
            None
        }
        Err(_) => None,
    };
    let types = verifier.types().await?;
    let edited = EditedRequest {
        form,
        saved: around.saved.as_ref(),
        version: around.version,
        types: &types,
        problems: around.problems,
        found,
        notice: around.notice,
    };
    super::html(&SavedRequestPage::of(frame, edited))
}
