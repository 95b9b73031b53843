//! The requirements of the W3C data models for a credential and a presentation, one predicate for each rule.

use selfsame_crypto::jws;
use serde_json::{Map, Value};
use url::Url;

use super::{Model, VcJwt, id_of, strings, subject_of};

/// VCDM 1.1 §6.3.1: `typ`, if present, is `JWT`. VC-JOSE-COSE §3.1.1: `vc+jwt`; any other type means another kind of
/// token.
pub(crate) fn credential_has_type(credential: &VcJwt) -> bool {
    has_type(&credential.jwt.header, credential.model.credential_typ())
}

/// As above, for a token that is of the type `wanted`.
pub(super) fn has_type(header: &jws::Header, wanted: &str) -> bool {
    header.typ.is_none() || header.is_of_type(wanted)
}

/// VC-JOSE-COSE §3.1.3: claims of the JWT and members of the credential are equal.
pub(super) fn contradiction_of_v2(credential: &Value) -> Option<&'static str> {
    let says = |claim: &str| credential.get(claim);
    let same = |claim: &str, member: Option<&str>| match (says(claim), member) {
        (Some(claim), Some(member)) => claim.as_str() == Some(member),
        _ => true,
    };
    let id = says("id").and_then(Value::as_str);
    [
        ("iss", same("iss", id_of(says("issuer")))),
        ("jti", same("jti", id)),
        ("sub", same("sub", subject_of(says("credentialSubject")))),
    ]
    .into_iter()
    .find_map(|(claim, same)| (!same).then_some(claim))
}

/// VCDM 1.1 §4.1, VCDM 2.0 §4.3: the first context is the data model's own.
pub(crate) fn has_base_context(object: &Map<String, Value>, model: Model) -> bool {
    let context = object.get("@context");
    let first = match context {
        Some(Value::Array(contexts)) => contexts.first().and_then(Value::as_str),
        Some(Value::String(only)) => Some(only.as_str()),
        _ => None,
    };
    first == Some(model.base_context())
}

/// VCDM 1.1 §4.3, VCDM 2.0 §4.5: the type is present and includes `name`.
pub(crate) fn is_typed(object: &Map<String, Value>, name: &str) -> bool {
    strings(object.get("type")).contains(&name)
}

/// VCDM 1.1 §4.2, VCDM 2.0 §4.4: the credential's `id`, if present, is a single URL. If it comes only from `jti`, it
/// may be any string (RFC 7519 §4.1.7), since many issuers number their tokens.
pub(crate) fn is_identified_as_specified(credential: &VcJwt) -> bool {
    let Some(id) = credential.credential().get("id") else {
        return true;
    };
    let of_jwt = credential.model == Model::V1 && credential.payload.get("jti") == Some(id);
    let is_fit = |id: &str| of_jwt || Url::parse(id).is_ok();
    id.as_str().is_some_and(is_fit)
}

/// VCDM 1.1 §4.4 to §4.6, VCDM 2.0 §4.7 to §4.9: subject and issuer are present; in 1.1 also the date of issue.
pub(crate) fn has_required_members(credential: &VcJwt) -> bool {
    let Some(object) = credential.credential().as_object() else {
        return false;
    };
    let subject = match object.get("credentialSubject") {
        Some(Value::Object(_)) => true,
        Some(Value::Array(subjects)) => {
            !subjects.is_empty() && subjects.iter().all(Value::is_object)
        }
        _ => false,
    };
    let issuer = id_of(object.get("issuer")).is_some();
    let issued = credential.model == Model::V2 || object.get("issuanceDate").is_some();
    subject && issuer && issued
}
