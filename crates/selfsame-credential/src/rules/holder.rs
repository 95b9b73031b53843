//! Rules for the holder's proof that SD-JWT and W3C presentations share: its audience, its nonce and its time.

use selfsame_crypto::{hash::ct_eq, time::UnixTime};
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::{Map, Value};

use super::{Binding, Court};
use crate::validity::{Validity, numeric_date};

/// Maximum age of a proof, in seconds. The nonce makes a proof fresh; this keeps an old proof from being accepted by a
/// verifier that forgets its nonces late.
const MAX_AGE: u64 = 600;

pub(crate) const AUDIENCE: Law = Law::new(
    "holder_audience",
    "RFC 9901 §7.3 (5.f), OpenID4VP §8.6",
    BrokenRule::Invalid,
);
pub(crate) const NONCE: Law = Law::new(
    "holder_nonce",
    "RFC 9901 §7.3 (5.f), OpenID4VP §8.6",
    BrokenRule::Invalid,
);
pub(crate) const TIME: Law = Law::new(
    "holder_proof_time",
    "RFC 9901 §7.3 (5.e), RFC 7519 §4.1",
    BrokenRule::Invalid,
);

/// The proof is for this verifier: `aud` is one string, or in a W3C presentation a list with only that string.
pub(crate) fn audience(claims: &Map<String, Value>, expected: &Binding, list: &mut Checklist) {
    let audience = match claims.get("aud") {
        Some(Value::Array(audiences)) if audiences.len() == 1 => audiences.first(),
        audience => audience,
    };
    let fits = audience.and_then(Value::as_str) == Some(expected.audience.as_str());
    list.check(&AUDIENCE, fits, "the presentation is for another verifier");
}

/// The proof answers this verifier's request.
pub(crate) fn nonce(claims: &Map<String, Value>, expected: &Binding, list: &mut Checklist) {
    let nonce = claims.get("nonce").and_then(Value::as_str);
    let fits = nonce.is_some_and(|nonce| ct_eq(nonce.as_bytes(), expected.nonce.as_bytes()));
    list.check(&NONCE, fits, "the presentation answers another request");
}

/// The proof was made just now. `iat` must be present if `required`.
pub(crate) fn time(
    claims: &Map<String, Value>,
    required: bool,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let leeway = court.policy.leeway;
    let (Ok(made), Ok(validity)) = (numeric_date(claims.get("iat")), Validity::of_jwt(claims))
    else {
        list.fails(&TIME, "a time is malformed");
        return;
    };
    let recent = match made {
        Some(made) => is_recent(made, court),
        None => !required,
    };
    let holds =
        recent && validity.has_begun(court.now, leeway) && validity.lasts(court.now, leeway);
    list.check(&TIME, holds, "the presentation was not made just now");
}

/// Whether a proof that was made at this time was made just now.
pub(crate) fn is_recent(made: UnixTime, court: &Court<'_>) -> bool {
    let leeway = court.policy.leeway;
    let oldest = court.now.minus(MAX_AGE.saturating_add(leeway));
    made >= oldest && made <= court.now.plus(leeway)
}
