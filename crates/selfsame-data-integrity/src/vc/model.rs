//! What the data models require of a document.

use selfsame_verdict::Checklist;
use serde_json::{Map, Value};

use crate::{Contexts, IntegrityError};

use super::{CREDENTIALS_MAX, laws};

/// The version of the data model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VcModel {
    /// VCDM 1.1.
    V1,
    /// VCDM 2.0.
    V2,
}

impl VcModel {
    /// The context that comes first (VCDM 1.1 §4.1, VCDM 2.0 §4.3).
    pub const fn base_context(self) -> &'static str {
        match self {
            Self::V1 => "https://www.w3.org/2018/credentials/v1",
            Self::V2 => "https://www.w3.org/ns/credentials/v2",
        }
    }

    /// The members with the beginning and the end of a credential's validity.
    pub const fn dates(self) -> (&'static str, &'static str) {
        match self {
            Self::V1 => ("issuanceDate", "expirationDate"),
            Self::V2 => ("validFrom", "validUntil"),
        }
    }
}

/// The model of a document, by its first context (VCDM 1.1 §4.1, VCDM 2.0 §4.3).
pub fn model_of(members: &Map<String, Value>) -> Option<VcModel> {
    let first = match members.get("@context") {
        Some(Value::Array(several)) => several.first(),
        one => one,
    };
    let first = first.and_then(Value::as_str);
    let mut models = [VcModel::V1, VcModel::V2].into_iter();
    models.find(|model| first == Some(model.base_context()))
}

/// The model of a document; every context must be known.
pub(super) fn judge(
    members: &Map<String, Value>,
    contexts: &Contexts,
    list: &mut Checklist,
) -> Option<VcModel> {
    let model = model_of(members);
    if model.is_none() {
        list.fails(&laws::CONTEXT, "the first context is no data model's");
    } else if let Err(error) = contexts.check(members) {
        list.fails(&laws::CONTEXT, error.to_string());
    } else {
        list.passes(&laws::CONTEXT, "");
    }
    model
}

/// Whether `type` includes a name.
pub fn is_typed(members: &Map<String, Value>, name: &str) -> bool {
    match members.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// The identifier in a value that is a string or an object with an `id`.
pub fn id_of(value: &Value) -> Option<&str> {
    match value {
        Value::Object(members) => members.get("id")?.as_str(),
        one => one.as_str(),
    }
}

/// Whether a credential has what its data model requires (VCDM 1.1 §4.2 to §4.9, VCDM 2.0 §4.4 to §4.11).
pub fn has_required(members: &Map<String, Value>, model: VcModel) -> bool {
    let is_full = |subject: &Value| subject.as_object().is_some_and(|one| !one.is_empty());
    let subjects = match members.get("credentialSubject") {
        Some(Value::Array(several)) => !several.is_empty() && several.iter().all(is_full),
        Some(one) => is_full(one),
        None => false,
    };
    let is_url = |id: &str| id.contains(':');
    let issuer = members.get("issuer").and_then(id_of).is_some_and(is_url);
    let id = members
        .get("id")
        .is_none_or(|id| id.as_str().is_some_and(is_url));
    let issued = model == VcModel::V2 || members.contains_key("issuanceDate");
    subjects && issuer && id && issued && are_typed(members)
}

/// What describes a status, a schema, terms or evidence says of which type it is.
fn are_typed(members: &Map<String, Value>) -> bool {
    let names = [
        "credentialStatus",
        "credentialSchema",
        "termsOfUse",
        "evidence",
    ];
    let mut values = names.iter().filter_map(|name| members.get(*name));
    let is_typed = |one: &Value| {
        let kind = one.get("type");
        kind.is_some_and(|kind| kind.is_string() || kind.is_array())
    };
    values.all(|value| match value {
        Value::Array(several) => several.iter().all(is_typed),
        one => is_typed(one),
    })
}

/// The credentials of a presentation.
pub(super) fn credentials(members: &Map<String, Value>) -> Result<Vec<&Value>, IntegrityError> {
    let credentials = match members.get("verifiableCredential") {
        None => Vec::new(),
        Some(Value::Array(several)) => several.iter().collect(),
        Some(one) => vec![one],
    };
    match credentials.len() <= CREDENTIALS_MAX {
        true => Ok(credentials),
        false => Err(IntegrityError::TooMany("verifiableCredential")),
    }
}
