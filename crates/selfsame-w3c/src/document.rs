//! What the data models require of a document. The rules that a program can check without the document's contexts.

use selfsame_crypto::time::seconds_of_rfc3339;
use selfsame_data_integrity::vc::{VcModel, is_typed, model_of};
use selfsame_data_integrity::{Contexts, IntegrityError};
use serde_json::{Map, Value};
use url::Url;

use crate::problem::VcProblem;

type DocumentMembers = Map<String, Value>;

/// A rule: what is wrong with a document that breaks it, and whether one keeps it.
type DocumentRule = (&'static str, fn(&DocumentMembers, VcModel) -> bool);

/// VCDM 1.1 §4, VCDM 2.0 §4.
const OF_CREDENTIALS: [DocumentRule; 12] = [
    ("`type` must include VerifiableCredential", |one, _| {
        are_types(one) && is_typed(one, "VerifiableCredential")
    }),
    ("`id` must be one URL", |one, _| is_url_or_absent(one, "id")),
    (
        "`issuer` must be a URL, or an object whose `id` is one",
        |one, _| one.get("issuer").is_some_and(is_identified),
    ),
    (
        "`credentialSubject` must be an object that says something, or several",
        |one, _| one.get("credentialSubject").is_some_and(are_subjects),
    ),
    ("`issuanceDate` is required", |one, model| {
        model == VcModel::V2 || one.contains_key("issuanceDate")
    }),
    (
        "a date must be an xsd:dateTimeStamp, with its zone",
        are_dates,
    ),
    ("the validity must not end before it begins", is_ordered),
    (
        "`credentialStatus` must be objects with `type`, whose `id` is a URL if they have one",
        |one, _| {
            each(one, "credentialStatus", |status| {
                has_type(status) && is_url_or_absent(status, "id")
            })
        },
    ),
    (
        "`credentialSchema` must be objects with `type` and `id`, a URL",
        |one, _| {
            each(one, "credentialSchema", |schema| {
                has_type(schema) && is_url(schema.get("id"))
            })
        },
    ),
    (
        "`termsOfUse`, `evidence` and `refreshService` must be objects with `type`",
        |one, _| {
            let names = ["termsOfUse", "evidence", "refreshService"];
            names.iter().all(|name| each(one, name, has_type))
        },
    ),
    (
        "`name` and `description` must be texts, or objects with `@value` and `@language`",
        |one, model| model == VcModel::V1 || are_texts(one) && issuer(one).is_none_or(are_texts),
    ),
    (
        "`relatedResource` must be objects with `id`, a URL of its own, and a digest",
        |one, model| model == VcModel::V1 || are_resources(one),
    ),
];

/// VCDM 1.1 §4.10, VCDM 2.0 §4.13.
const OF_PRESENTATIONS: [DocumentRule; 3] = [
    ("`type` must include VerifiablePresentation", |one, _| {
        are_types(one) && is_typed(one, "VerifiablePresentation")
    }),
    ("`id` must be one URL", |one, _| is_url_or_absent(one, "id")),
    (
        "`holder` must be a URL, or an object whose `id` is one",
        |one, _| one.get("holder").is_none_or(is_identified),
    ),
];

/// Checks a credential.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn credential(members: &DocumentMembers) -> Result<VcModel, VcProblem> {
    checked(members, &OF_CREDENTIALS)
}

/// Checks a presentation, without its credentials.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn presentation(members: &DocumentMembers) -> Result<VcModel, VcProblem> {
    checked(members, &OF_PRESENTATIONS)
}

fn checked(members: &DocumentMembers, rules: &[DocumentRule]) -> Result<VcModel, VcProblem> {
    let unknown = "the first context must be that of VCDM 1.1 or 2.0";
    let model = model_of(members).ok_or_else(|| VcProblem::malformed(unknown))?;
    match Contexts::known().check(members) {
        Ok(()) => {}
        Err(IntegrityError::UnknownContext(url)) => {
            let detail = format!("the context {url} is not known here, and none is fetched");
            return Err(VcProblem::malformed(detail));
        }
        Err(error) => return Err(VcProblem::malformed(error.to_string())),
    }
    match rules.iter().find(|(_, keeps)| !keeps(members, model)) {
        Some((broken, _)) => Err(VcProblem::malformed(*broken)),
        None => Ok(model),
    }
}

fn is_url(value: Option<&Value>) -> bool {
    let text = value.and_then(Value::as_str);
    text.is_some_and(|text| Url::parse(text).is_ok())
}

fn is_url_or_absent(members: &DocumentMembers, name: &str) -> bool {
    !members.contains_key(name) || is_url(members.get(name))
}

fn is_identified(value: &Value) -> bool {
    match value {
        Value::Object(members) => is_url(members.get("id")),
        one => is_url(Some(one)),
    }
}

fn are_types(members: &DocumentMembers) -> bool {
    match members.get("type") {
        Some(Value::Array(several)) => several.iter().all(Value::is_string),
        one => one.is_some_and(Value::is_string),
    }
}

fn are_subjects(value: &Value) -> bool {
    let is_subject = |one: &Value| {
        let members = one.as_object();
        members.is_some_and(|one| !one.is_empty() && is_url_or_absent(one, "id"))
    };
    match value {
        Value::Array(several) => !several.is_empty() && several.iter().all(is_subject),
        one => is_subject(one),
    }
}

/// Whether each value of a member, if there is one, is an object that keeps a rule.
fn each(members: &DocumentMembers, name: &str, keeps: impl Fn(&DocumentMembers) -> bool) -> bool {
    let keeps = |one: &Value| one.as_object().is_some_and(&keeps);
    match members.get(name) {
        None => true,
        Some(Value::Array(several)) => several.iter().all(keeps),
        Some(one) => keeps(one),
    }
}

fn has_type(members: &DocumentMembers) -> bool {
    members.contains_key("type") && are_types(members)
}

/// A date of the document's model, in seconds.
fn date(members: &DocumentMembers, name: &str) -> Result<Option<i64>, ()> {
    match members.get(name) {
        None => Ok(None),
        Some(value) => {
            let seconds = value.as_str().and_then(seconds_of_rfc3339);
            seconds.map(Some).ok_or(())
        }
    }
}

fn are_dates(members: &DocumentMembers, model: VcModel) -> bool {
    let (from, until) = model.dates();
    date(members, from).is_ok() && date(members, until).is_ok()
}

fn is_ordered(members: &DocumentMembers, model: VcModel) -> bool {
    let (from, until) = model.dates();
    match (date(members, from), date(members, until)) {
        (Ok(Some(from)), Ok(Some(until))) => from <= until,
        _ => true,
    }
}

fn issuer(members: &DocumentMembers) -> Option<&DocumentMembers> {
    members.get("issuer")?.as_object()
}

/// VCDM 2.0 §11.1: a text, or texts of languages.
fn are_texts(members: &DocumentMembers) -> bool {
    let is_language = |one: &Value| {
        let known = ["@value", "@language", "@direction"];
        one.as_object().is_some_and(|one| {
            let is_known = |(name, value): (&String, &Value)| {
                known.contains(&name.as_str()) && value.is_string()
            };
            one.contains_key("@value") && one.iter().all(is_known)
        })
    };
    let is_text = |value: &Value| match value {
        Value::String(_) => true,
        Value::Array(several) => !several.is_empty() && several.iter().all(is_language),
        one => is_language(one),
    };
    let mut named = ["name", "description"]
        .iter()
        .filter_map(|name| members.get(*name));
    named.all(is_text)
}

/// VCDM 2.0 §5.3.
fn are_resources(members: &DocumentMembers) -> bool {
    let values = match members.get("relatedResource") {
        None => return true,
        Some(Value::Array(several)) => several.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let id = |one: &Value| one.get("id").and_then(Value::as_str).map(str::to_owned);
    let mut ids: Vec<String> = values.iter().filter_map(id).collect();
    let has_digest = |one: &DocumentMembers| {
        let digests = ["digestSRI", "digestMultibase"];
        digests.iter().any(|name| one.contains_key(*name)) && is_url(one.get("id"))
    };
    let is_resource = |one: &Value| one.as_object().is_some_and(has_digest);
    ids.sort_unstable();
    ids.dedup();
    ids.len() == values.len() && values.iter().all(is_resource)
}

#[cfg(test)]
mod tests;
