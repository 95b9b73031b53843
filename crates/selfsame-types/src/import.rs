//! Imports: a type from a description in another form. An import gives a definition to go on with, and says what it
//! could not take over.

mod json_schema;
mod oca;
mod type_metadata;

use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, Reason, Reasons, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::check::is_id;
use crate::file::FILE_BYTES_MAX;
use crate::model::{Labels, TypeDefinition};

/// Limits of a description.
const LIMITS: Limits = Limits {
    max_bytes: FILE_BYTES_MAX,
    max_depth: 32,
    max_members: 10_000,
};
/// Maximum number of things that are listed as not taken over.
const LEFT_OUT_MAX: usize = 100;
/// Maximum number of characters of a text that is taken over.
const TEXT_MAX: usize = 500;
/// Maximum number of bytes of an id made from a name.
const ID_MAX: usize = 40;

/// An imported type, as it is shown. It is not stored: change it as needed, then create it.
#[derive(Deserialize, Serialize, ToSchema)]
pub struct ImportedType {
    /// The definition.
    pub definition: TypeDefinition,
    /// What was not taken over.
    #[schema(value_type = Vec<String>)]
    pub left_out: Vec<Reason>,
    /// What must be changed before it can be created.
    #[schema(value_type = Vec<String>)]
    pub refusals: Vec<Reason>,
}

impl Reasons for ImportedType {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.left_out.iter_mut().chain(&mut self.refusals).collect()
    }
}

/// An imported type.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The definition. It can have refusals of its own, which [`check`](crate::check()) finds.
    pub definition: TypeDefinition,
    /// What was not taken over, each with its place.
    pub left_out: Vec<Reason>,
}

/// Imports SD-JWT VC type metadata, a JSON Schema, or an OCA bundle; the description itself shows which it is.
///
/// # Errors
/// `BadRequest` for a text in another format.
pub fn import(text: &[u8], id: Option<&str>) -> Result<Imported> {
    let value = json::parse(text, &LIMITS)
        .map_err(|error| Error::bad_request("type-file-malformed").with("detail", &error))?;
    let mut draft = Draft::default();
    let is_bundle = |value: &Value| value.get("capture_base").is_some();
    let bundle = match &value {
        Value::Array(bundles) => bundles.first().filter(|first| is_bundle(first)),
        one => Some(one).filter(|one| is_bundle(one)),
    };
    if let Some(bundle) = bundle {
        oca::import(bundle, &mut draft);
    } else if value.get("vct").is_some_and(Value::is_string) {
        type_metadata::import(&value, &mut draft);
    } else if value.get("properties").is_some_and(Value::is_object) {
        json_schema::import(&value, &mut draft);
    } else {
        return Err(Error::bad_request("import-unknown"));
    }
    Ok(draft.finish(id))
}

/// A type while it is imported.
struct Draft {
    definition: TypeDefinition,
    left_out: Vec<Reason>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            definition: TypeDefinition::empty(),
            left_out: Vec::new(),
        }
    }
}

impl Draft {
    fn leave_out(&mut self, reason: Reason) {
        if self.left_out.len() < LEFT_OUT_MAX {
            self.left_out.push(reason);
        }
    }

    /// Says that a member is not taken over.
    fn ignore(&mut self, place: &str) {
        self.leave_out(Reason::new("import-ignored").with("place", shown(place)));
    }

    /// Says that each member is not taken over that is not among the known ones.
    fn ignore_others(&mut self, value: &Value, known: &[&str], place: &str) {
        for name in value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            if !known.contains(&name.as_str()) {
                self.ignore(&below(place, name));
            }
        }
    }

    fn finish(mut self, id: Option<&str>) -> Imported {
        let named = slug(self.definition.name());
        self.definition.id = match id {
            Some(id) => id.to_owned(),
            None if is_id(&named) => named,
            None => "imported".to_owned(),
        };
        if self.definition.title.is_empty() {
            let title = self.definition.id.replace('-', " ");
            self.definition.title.insert("en", &title);
        }
        Imported {
            definition: self.definition,
            left_out: self.left_out,
        }
    }
}

/// The place of a member.
fn below(place: &str, name: &str) -> String {
    match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    }
}

/// A place as it is shown: not longer than people read.
fn shown(place: &str) -> &str {
    let end = place.floor_char_boundary(120);
    place.get(..end).unwrap_or_default()
}

/// A text for people, without control characters and not too long; none if nothing is left.
fn text(value: &Value) -> Option<String> {
    let visible = value
        .as_str()?
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c });
    let text: String = visible.take(TEXT_MAX).collect();
    (!text.trim().is_empty()).then_some(text)
}

fn label(labels: &mut Labels, language: &str, value: Option<&Value>) {
    if let Some(text) = value.and_then(text) {
        labels.insert(language, &text);
    }
}

/// An id made from a name.
pub(crate) fn slug(name: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric();
    let words = name.split(|c| !word(c)).filter(|part| !part.is_empty());
    let mut id = String::new();
    for part in words {
        if id.len() + part.len() >= ID_MAX {
            break;
        }
        if !id.is_empty() {
            id.push('-');
        }
        id.push_str(&part.to_ascii_lowercase());
    }
    id
}

#[cfg(test)]
mod tests;
