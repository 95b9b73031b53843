//! VCDM 1.1 §6.3.1: registered JWT claims that replace a credential's own members, and back.

use selfsame_crypto::time::{rfc3339_of_seconds, seconds_of_rfc3339};
use serde_json::{Map, Value, json};

use super::{VcJwtError, id_of, subject_of};
use crate::validity::numeric_seconds;

/// Rebuilds the credential of a VCDM 1.1 JWT (§6.3.1.2) from `vc` and the JWT claims: members that the credential lacks
/// are taken from the claims. Also returns the first claim that contradicts a member.
pub(super) fn credential_of_v1(
    payload: &mut Map<String, Value>,
) -> Result<(Value, Option<&'static str>), VcJwtError> {
    let contradiction = contradiction(payload);
    let Some(Value::Object(mut credential)) = payload.remove("vc") else {
        return Err(VcJwtError::Payload);
    };
    for (member, claim) in [("issuer", "iss"), ("id", "jti")] {
        if let (None, Some(value)) = (credential.get(member), payload.get(claim)) {
            credential.insert(member.to_owned(), value.clone());
        }
    }
    for (member, claim) in [("issuanceDate", "nbf"), ("expirationDate", "exp")] {
        if let (None, Some(time)) = (credential.get(member), time_claim(payload, claim)) {
            credential.insert(member.to_owned(), Value::from(rfc3339_of_seconds(time)));
        }
    }
    if let Some(sub) = payload.get("sub") {
        let subject = credential
            .entry("credentialSubject")
            .or_insert_with(|| json!({}));
        if let Value::Object(subject) = subject {
            subject.entry("id").or_insert_with(|| sub.clone());
        }
    }
    Ok((Value::Object(credential), contradiction))
}

/// The first JWT claim that contradicts the credential's own member, if any.
fn contradiction(payload: &Map<String, Value>) -> Option<&'static str> {
    let vc = payload.get("vc")?;
    let says = |claim: &str| payload.get(claim);
    let differ = |claim: &str, member: Option<&str>| match (says(claim), member) {
        (Some(claim), Some(member)) => claim.as_str() != Some(member),
        _ => false,
    };
    let late = |claim: &str, member: &str| match (says(claim), vc.get(member)) {
        (Some(_), Some(date)) => {
            let date = date.as_str().and_then(seconds_of_rfc3339);
            date.is_none() || date != time_claim(payload, claim)
        }
        _ => false,
    };
    let checks = [
        ("iss", differ("iss", id_of(vc.get("issuer")))),
        ("jti", differ("jti", vc.get("id").and_then(Value::as_str))),
        (
            "sub",
            differ("sub", subject_of(vc.get("credentialSubject"))),
        ),
        ("nbf", late("nbf", "issuanceDate")),
        ("exp", late("exp", "expirationDate")),
    ];
    checks
        .into_iter()
        .find_map(|(claim, wrong)| wrong.then_some(claim))
}

fn time_claim(payload: &Map<String, Value>, claim: &str) -> Option<i64> {
    numeric_seconds(payload.get(claim)).ok().flatten()
}
