//! What is wrong with a token by itself: its times, its type, what it hides.

use selfsame_credential::format::{Format, Profile};
use selfsame_credential::sd_jwt::SdJwt;
use selfsame_credential::validity::Validity;
use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value};

use crate::ShownProblem;

/// The difference between clocks that is tolerated, in seconds.
const LEEWAY: u64 = 60;
/// The type of an SD-JWT VC in earlier drafts.
const EARLIER: &str = "vc+sd-jwt";
/// Claims that must not be selectively disclosable.
const OPEN: [&str; 6] = ["iss", "nbf", "exp", "cnf", "vct", "status"];

/// What is wrong with the times of a JWT's claims.
pub fn times_of(claims: &Value, now: UnixTime) -> Vec<ShownProblem> {
    let Some(members) = claims.as_object() else {
        return vec![ShownProblem::new(
            "the payload is not a JSON object",
            "RFC 7519 §7.2",
        )];
    };
    match Validity::of_jwt(members) {
        Ok(validity) => times(validity, now),
        Err(_) => vec![ShownProblem::new(
            "iat, nbf or exp is not a number of seconds",
            "RFC 7519 §2",
        )],
    }
}

/// What is wrong with a validity period now.
pub fn times(validity: Validity, now: UnixTime) -> Vec<ShownProblem> {
    let mut problems = Vec::new();
    if !validity.lasts(now, LEEWAY) {
        let until = validity.expires.map(UnixTime::rfc3339).unwrap_or_default();
        let what = format!("it has expired: it was valid until {until}");
        problems.push(ShownProblem::new(what, "RFC 7519 §4.1.4"));
    }
    if !validity.has_begun(now, LEEWAY) {
        let from = validity
            .not_before
            .map(UnixTime::rfc3339)
            .unwrap_or_default();
        let what = format!("it is not valid yet: it is valid from {from}");
        problems.push(ShownProblem::new(what, "RFC 7519 §4.1.5"));
    }
    problems
}

/// What is wrong with an SD-JWT VC.
pub fn sd_jwt_vc(sd_jwt: &SdJwt) -> Vec<ShownProblem> {
    let header = &sd_jwt.jwt().header;
    let payload = sd_jwt.payload();
    let typ = Format::of_profile(Profile::SdJwtVc).as_str();
    let is_typed = header.is_of_type(typ) || header.is_of_type(EARLIER);
    if payload.get("vct").is_none() && !is_typed {
        // Another SD-JWT.
        return Vec::new();
    }
    let mut problems = Vec::new();
    if !is_typed {
        let what = format!("typ is not {typ}");
        problems.push(ShownProblem::new(what, "SD-JWT VC §2.2.1"));
    }
    if payload.get("vct").and_then(Value::as_str).is_none() {
        let what = "vct is missing, or not a text";
        problems.push(ShownProblem::new(what, "SD-JWT VC §2.2.2.1"));
    }
    let hidden = sd_jwt.disclosures().iter().filter_map(|one| one.name());
    for name in hidden.filter(|name| OPEN.contains(name)) {
        let what = format!("{name} must not be selectively disclosed");
        problems.push(ShownProblem::new(what, "SD-JWT VC §2.2.2.2"));
    }
    problems
}

/// What is wrong with a key-binding JWT.
pub fn key_binding(sd_jwt: &SdJwt, claims: &Map<String, Value>) -> Vec<ShownProblem> {
    let mut problems = Vec::new();
    for name in ["nonce", "aud", "sd_hash"] {
        if claims.get(name).and_then(Value::as_str).is_none() {
            let what = format!("the key-binding JWT has no {name}");
            problems.push(ShownProblem::new(what, "RFC 9901 §4.3"));
        }
    }
    if claims.get("iat").and_then(Value::as_f64).is_none() {
        let what = "the key-binding JWT has no iat";
        problems.push(ShownProblem::new(what, "RFC 9901 §4.3"));
    }
    let stated = claims.get("sd_hash").and_then(Value::as_str);
    if stated.is_some_and(|stated| stated != sd_jwt.sd_hash()) {
        let what = "sd_hash is not that of this SD-JWT";
        problems.push(ShownProblem::new(what, "RFC 9901 §4.3.1"));
    }
    problems
}

/// How many claims, and decoys, are not disclosed: digests without their disclosure.
pub fn undisclosed(sd_jwt: &SdJwt) -> usize {
    let within = sd_jwt.disclosures().iter().map(|one| digests(one.value()));
    let digests = within.fold(digests(sd_jwt.payload()), usize::saturating_add);
    digests.saturating_sub(sd_jwt.disclosures().len())
}

/// The digests in a value (RFC 9901 §4.2.4).
fn digests(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(digests).fold(0, usize::saturating_add),
        Value::Object(members) => {
            let own = members
                .get("_sd")
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            let element = usize::from(members.get("...").is_some_and(Value::is_string));
            let others = members.iter().filter(|(name, _)| *name != "_sd");
            let others = others.map(|(_, value)| digests(value));
            others.fold(own.saturating_add(element), usize::saturating_add)
        }
        _ => 0,
    }
}
