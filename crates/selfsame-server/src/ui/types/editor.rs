//! The editor of a credential type: shown, drawn again after a button, saved; and imports, which open in it.

use axum::response::{IntoResponse as _, Redirect};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_pages::types::{EditedType, TypeEditorPage};
use selfsame_types::editor::{FieldProblem, SentFields, TypeForm};
use selfsame_types::file::{FILE_BYTES_MAX, read_json, read_toml};
use selfsame_types::import::import;
use selfsame_types::{OwnTypes, TypeDefinition, check};
use serde::Deserialize;

use super::super::Frame;
use super::After;
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Query, UploadedFile};
use crate::here::Here;

/// The values of a form.
pub struct EditorValues<'a>(pub &'a Form);

impl SentFields for EditorValues<'_> {
    fn one(&self, name: &str) -> Option<&str> {
        self.0.one(name)
    }

    fn all(&self, name: &str) -> &[String] {
        self.0.all(name)
    }
}

/// What a new type begins as a copy of.
#[derive(Deserialize)]
pub struct Original {
    from: Option<String>,
}

/// What is known of a type beside its form.
#[derive(Default)]
struct Around<'a> {
    id: Option<&'a str>,
    problems: Vec<FieldProblem>,
    left_out: &'a [Reason],
    notice: Option<&'static str>,
}

/// The editor of a new type.
pub async fn new(server: Here, frame: Frame, Query(original): Query<Original>) -> Handled {
    let form = match &original.from {
        None => TypeForm::empty(),
        Some(id) => TypeForm::copy_of(&latest(&server, id).await?),
    };
    show(&server, frame, form, Around::default()).await
}

/// The editor of a draft, or of the next version of a published type.
pub async fn edit(
    server: Here,
    frame: Frame,
    Path(id): Path<String>,
    Query(after): Query<After>,
) -> Handled {
    let form = TypeForm::of(&latest(&server, &id).await?);
    let around = Around {
        id: Some(&id),
        notice: (after.done.as_deref() == Some("saved")).then_some("The draft is saved."),
        ..Around::default()
    };
    show(&server, frame, form, around).await
}

/// Does what the pressed button of a new type says.
pub async fn create(server: Here, frame: Frame, form: Form) -> Handled {
    press(&server, frame, &form, None).await
}

/// Does what the pressed button of an existing type says.
pub async fn change(server: Here, frame: Frame, Path(id): Path<String>, form: Form) -> Handled {
    press(&server, frame, &form, Some(&id)).await
}

/// Opens a file in the editor, and tells what could not be taken over.
pub async fn import_file(server: Here, frame: Frame, form: Form) -> Handled {
    let file = form.file("file");
    let file = file.ok_or_else(|| Problem::bad_request("field-missing").with("field", "file"))?;
    let (definition, left_out) = opened(file)?;
    let form = TypeForm::of(&definition);
    let found = check(&form.definition());
    let around = Around {
        problems: form.at_fields(found.refusals),
        left_out: &left_out,
        notice: Some("The file is read. Nothing is stored before you save it."),
        ..Around::default()
    };
    show(&server, frame, form, around).await
}

/// The definition of a file, and what could not be taken over.
fn opened(file: &UploadedFile) -> Result<(TypeDefinition, Vec<Reason>)> {
    if file.bytes.len() > FILE_BYTES_MAX {
        return Err(Error::bad_request("type-file-large").with("maximum", &FILE_BYTES_MAX));
    }
    let own = match std::str::from_utf8(&file.bytes) {
        Ok(text) if !text.trim_start().starts_with(['{', '[']) => read_toml(text)?,
        _ => match import(&file.bytes, None) {
            Ok(imported) => return Ok((imported.definition, imported.left_out)),
            Err(error) if error.reason.id() == "import-unknown" => read_json(&file.bytes)?,
            Err(error) => return Err(error),
        },
    };
    Ok((own, Vec::new()))
}

async fn press(server: &Here, frame: Frame, sent: &Form, id: Option<&str>) -> Handled {
    let mut form = read(sent, id)?;
    let mut around = Around {
        id,
        ..Around::default()
    };
    if let Some(file) = sent.file("logo_file")
        && let Err(reason) = form.set_logo(&file.bytes)
    {
        around.problems.push(FieldProblem::of("logo_file", reason));
    }
    match sent.one("do").unwrap_or("show") {
        "show" => {}
        "logo-off" => form.remove_logo(),
        "check" => look_over(&mut form, &mut around),
        button @ ("save" | "publish") => {
            look_over(&mut form, &mut around);
            if let Some(id) = save(server.issuer()?.types(), &form, &mut around).await? {
                return Ok(saved_as(&id, button));
            }
        }
        button => form.press(button),
    }
    show(server, frame, form, around).await
}

/// The form as it was sent. An existing type keeps its id.
fn read(sent: &Form, id: Option<&str>) -> Handled<TypeForm> {
    let base = read_json(sent.needed("base")?.as_bytes())?;
    let mut form = TypeForm::read(&EditorValues(sent), base);
    if let Some(id) = id {
        form.id = id.to_owned();
    }
    Ok(form)
}

/// Names what has no name, and looks for what is wrong.
fn look_over(form: &mut TypeForm, around: &mut Around<'_>) {
    form.suggest_names();
    let refusals = check(&form.definition()).refusals;
    around.problems.extend(form.at_fields(refusals));
    around.notice = Some("Nothing is wrong with it. It is not saved yet.");
}

/// Saves a form without problems as a draft; returns the id if that could be done.
async fn save(
    types: OwnTypes<'_>,
    form: &TypeForm,
    around: &mut Around<'_>,
) -> Result<Option<String>> {
    if !around.problems.is_empty() {
        return Ok(None);
    }
    let definition = form.definition();
    let saved = match around.id {
        None => types.create(&definition).await,
        Some(id) => types.replace(id, &definition).await,
    };
    match saved {
        Ok(saved) => Ok(Some(saved.id)),
        Err(error) if can_be_put_right(&error) => {
            around.problems = form.at_fields(vec![error.reason]);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn saved_as(id: &str, button: &str) -> axum::response::Response {
    let address = match button {
        "publish" => format!("/types/view/{id}#publish"),
        _ => format!("/types/edit/{id}?done=saved"),
    };
    Redirect::to(&address).into_response()
}

fn can_be_put_right(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Conflict | ErrorKind::BadRequest)
}

async fn show(server: &Here, frame: Frame, form: TypeForm, around: Around<'_>) -> Handled {
    let issuer = server.issuer()?;
    let version = match around.id {
        Some(id) => issuer
            .types()
            .all()
            .await?
            .newest(id)
            .map(|one| one.version),
        None => None,
    };
    let advice = check(&form.definition()).advice;
    let edited = EditedType {
        advice: form.at_fields(advice),
        form,
        id: around.id,
        version,
        issuer: &issuer.name(),
        problems: around.problems,
        left_out: around.left_out,
        notice: around.notice,
    };
    super::super::html(&TypeEditorPage::of(frame, edited))
}

/// The draft of a type, or else its newest version.
async fn latest(server: &Here, id: &str) -> Handled<TypeDefinition> {
    let one = server.issuer()?.types().one(id).await?;
    let latest = one.draft.or(one.definition);
    latest.ok_or_else(|| Problem::bad_request("type-no-draft").with("type", &id))
}
