//! The ID token of the other provider (OpenID Connect Core §3.1.3.7).

use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
use selfsame_oauth::jwt::Jwt;

use super::{UpstreamAnswer, refused};

/// Seconds by which the clocks may differ.
const LEEWAY: u64 = 60;

/// What an ID token must say.
pub(super) struct ExpectedToken<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    pub now: UnixTime,
}

/// Whether an ID token, whose signature is verified, is for us, of this sign-in, and not over.
pub(super) fn check(token: &Jwt, expected: &ExpectedToken<'_>) -> UpstreamAnswer<()> {
    if token.text("iss") != Some(expected.issuer) {
        return Err(refused("the ID token is of another issuer"));
    }
    let audiences = token.audiences().unwrap_or_default();
    let is_ours = audiences.contains(&expected.client_id);
    if !is_ours || (audiences.len() > 1 && token.text("azp") != Some(expected.client_id)) {
        return Err(refused("the ID token is for another client"));
    }
    let nonce = token.text("nonce").unwrap_or_default();
    if !hash::ct_eq(nonce.as_bytes(), expected.nonce.as_bytes()) {
        return Err(refused("the ID token is of another sign-in"));
    }
    let time = |name: &str| token.time(name).ok().flatten();
    let is_current = time("exp").is_some_and(|end| expected.now < end.plus(LEEWAY))
        && time("iat").is_some_and(|made| made <= expected.now.plus(LEEWAY));
    if !is_current {
        return Err(refused("the ID token is too old or of the future"));
    }
    match token.text("sub") {
        Some(subject) if !subject.is_empty() => Ok(()),
        _ => Err(refused("the ID token names no subject")),
    }
}
