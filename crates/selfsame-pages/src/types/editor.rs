//! The editor of a type: its form, what is wrong beside each field, and its card.

use askama::Template;
use selfsame_catalogue::{Language, sentence};
use selfsame_credential::Format;
use selfsame_driver::Reason;
use selfsame_types::TypeDefinition;
use selfsame_types::editor::{ClaimRow, FieldProblem, TypeForm};
use selfsame_types::model::{ANONCREDS, ClaimKind, Disclosed};

use super::{first_format, text_of, told};
use crate::Frame;
use crate::look::CardLook;

/// The editor of a type.
#[derive(Template)]
#[template(path = "types_edit.html")]
pub struct TypeEditorPage {
    frame: Frame,
    title: &'static str,
    action: String,
    is_new: bool,
    issuer: String,
    notice: Option<&'static str>,
    left_out: Vec<String>,
    form: TypeForm,
    rows: Vec<RowView>,
    fresh: [RowView; 2],
    formats: Vec<FormatBox>,
    problems: Vec<FieldNote>,
    advice: Vec<FieldNote>,
    kept: String,
    base: String,
    toml: String,
    preview: TypeDefinition,
    look: CardLook,
    kind: &'static str,
}

/// A type as someone edits it.
pub struct EditedType<'a> {
    /// The form.
    pub form: TypeForm,
    /// The id that can't change any more.
    pub id: Option<&'a str>,
    /// The newest published version.
    pub version: Option<u32>,
    /// The name of the issuer.
    pub issuer: &'a str,
    /// What is wrong.
    pub problems: Vec<FieldProblem>,
    /// What should be better.
    pub advice: Vec<FieldProblem>,
    /// What an import did not take over.
    pub left_out: &'a [Reason],
    /// What is told above the form.
    pub notice: Option<&'static str>,
}

/// What is told about a field.
struct FieldNote {
    field: String,
    text: String,
}

/// A row as it is shown.
struct RowView {
    row: ClaimRow,
    problems: Vec<FieldNote>,
    members: Vec<RowView>,
}

/// An option of a choice.
struct SelectOption {
    value: &'static str,
    label: &'static str,
    selected: bool,
}

/// A format to choose.
struct FormatBox {
    value: &'static str,
    label: &'static str,
    checked: bool,
}

impl TypeEditorPage {
    /// The editor of this type.
    pub fn of(frame: Frame, edited: EditedType<'_>) -> Self {
        let form = edited.form;
        let preview = form.definition();
        let title = match (edited.id, edited.version) {
            (None, _) => "New credential type",
            (Some(_), None) => "Draft of a credential type",
            (Some(_), Some(_)) => "Next version of a credential type",
        };
        let problems: Vec<FieldNote> = edited.problems.into_iter().map(FieldNote::of).collect();
        let frame = match problems.is_empty() {
            true => frame.titled(title),
            false => frame.failed(title),
        };
        let formats = Format::ALL.into_iter().map(|format| FormatBox {
            value: format.as_str(),
            label: format.describe().summary,
            checked: form.formats.issued.contains(&format),
        });
        let anoncreds = FormatBox {
            value: ANONCREDS,
            label: "AnonCreds: schema and credential definition in the registry",
            checked: form.formats.anoncreds,
        };
        let action = match edited.id {
            None => format!("{}/types/new", frame.here),
            Some(id) => format!("{}/types/edit/{id}", frame.here),
        };
        Self {
            title,
            action,
            is_new: edited.id.is_none(),
            issuer: edited.issuer.to_owned(),
            notice: edited.notice,
            left_out: told(edited.left_out),
            rows: views(&form.rows, &problems),
            fresh: [false, true].map(RowView::fresh),
            formats: formats.chain([anoncreds]).collect(),
            advice: edited.advice.into_iter().map(FieldNote::of).collect(),
            kept: form.kept().join(", "),
            base: serde_json::to_string(&form.base).unwrap_or_default(),
            toml: text_of(&preview),
            look: CardLook::of_type(&preview),
            kind: first_format(&preview),
            problems,
            preview,
            form,
            frame,
        }
    }

    /// What is wrong with a field.
    fn problem(&self, field: &str) -> Option<&str> {
        found(&self.problems, field)
    }

    /// What should be better about a field.
    fn advised(&self, field: &str) -> Option<&str> {
        found(&self.advice, field)
    }

    fn has_second(&self) -> bool {
        !self.form.second_language.is_empty()
    }
}

fn found<'a>(told: &'a [FieldNote], field: &str) -> Option<&'a str> {
    let one = told.iter().find(|one| one.field == field);
    one.map(|one| one.text.as_str())
}

impl FieldNote {
    /// The sentence, with the form's name of the field in the place of its place in a file.
    fn of(problem: FieldProblem) -> Self {
        let told = sentence(Language::English, &problem.reason);
        let text = match told.hint {
            Some(hint) => format!("{}: {hint}", told.text),
            None => told.text,
        };
        let text = match problem.name {
            "" => text,
            name => text.replace(&format!("`{}`", problem.place), name),
        };
        Self {
            field: problem.field,
            text: crate::text::sentence(&text),
        }
    }
}

fn views(rows: &[ClaimRow], problems: &[FieldNote]) -> Vec<RowView> {
    rows.iter()
        .map(|row| {
            let prefix = format!("{}.", row.key);
            let own = problems.iter().filter_map(|one| {
                Some(FieldNote {
                    field: one.field.strip_prefix(&prefix)?.to_owned(),
                    text: one.text.clone(),
                })
            });
            RowView {
                problems: own.collect(),
                members: views(&row.members, problems),
                row: row.clone(),
            }
        })
        .collect()
}

impl RowView {
    /// The row that the script adds.
    fn fresh(is_inner: bool) -> Self {
        Self {
            row: ClaimRow::new("KEY", is_inner),
            problems: Vec::new(),
            members: Vec::new(),
        }
    }

    fn problem(&self, field: &str) -> Option<&str> {
        found(&self.problems, field)
    }

    fn kinds(&self) -> Vec<SelectOption> {
        let kinds = ClaimKind::ALL.into_iter();
        // Within an object, a further object is only kept: a file describes it.
        let fits = |kind: &ClaimKind| {
            *kind != ClaimKind::Object || !self.row.is_inner || self.row.kind == *kind
        };
        kinds
            .filter(fits)
            .map(|kind| choice(kind, self.row.kind))
            .collect()
    }

    fn elements(&self) -> Vec<SelectOption> {
        let kinds = ClaimKind::ALL.into_iter();
        let plain = |kind: &ClaimKind| {
            let is_plain = !matches!(
                kind,
                ClaimKind::Object | ClaimKind::List | ClaimKind::Enumeration
            );
            is_plain || self.row.of == *kind
        };
        kinds
            .filter(plain)
            .map(|kind| choice(kind, self.row.of))
            .collect()
    }

    fn disclosures(&self) -> Vec<SelectOption> {
        let all = [
            ("selectively", "the holder decides", Disclosed::Selectively),
            ("always", "always", Disclosed::Always),
            ("never", "never: only the issuer keeps it", Disclosed::Never),
        ];
        let fits = |disclosed: Disclosed| {
            !self.row.is_inner
                || disclosed != Disclosed::Never
                || self.row.disclosed == Disclosed::Never
        };
        let shown = all.into_iter().filter(|(_, _, disclosed)| fits(*disclosed));
        let choices = shown.map(|(value, label, disclosed)| SelectOption {
            value,
            label,
            selected: disclosed == self.row.disclosed,
        });
        choices.collect()
    }
}

fn choice(kind: ClaimKind, chosen: ClaimKind) -> SelectOption {
    SelectOption {
        value: kind.as_str(),
        label: match kind {
            ClaimKind::Text => "text",
            ClaimKind::Number => "number",
            ClaimKind::Date => "date",
            ClaimKind::Boolean => "yes or no",
            ClaimKind::Image => "image",
            ClaimKind::Enumeration => "one of some values",
            ClaimKind::Object => "group of claims",
            ClaimKind::List => "list",
        },
        selected: kind == chosen,
    }
}
