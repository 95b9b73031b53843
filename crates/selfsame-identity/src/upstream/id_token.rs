//! The ID token of the other provider (OpenID Connect Core §3.1.3.7).

use selfsame_crypto::hash;
use selfsame_crypto::jws::Compact;
use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value};

use super::metadata::ProviderKey;
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

/// The claims of an ID token that is genuine, for us, of this sign-in, and not over.
pub(super) fn judge(
    id_token: &str,
    keys: &[ProviderKey],
    expected: &ExpectedToken<'_>,
) -> UpstreamAnswer<Map<String, Value>> {
    let signed = Compact::parse(id_token).map_err(|_| refused("the ID token is no JWS"))?;
    let fits = |key: &&ProviderKey| {
        let named = signed.header.kid.is_none() || key.jwk.kid == signed.header.kid;
        named && key.jwk.may_verify(signed.header.alg)
    };
    let mut keys = keys.iter().filter(fits);
    if !keys.any(|key| signed.verify(&key.key).is_ok()) {
        return Err(refused("the ID token has no valid signature"));
    }
    let Ok(Value::Object(claims)) = signed.claims() else {
        return Err(refused("the ID token has no claims"));
    };
    check(&claims, expected)?;
    Ok(claims)
}

fn check(claims: &Map<String, Value>, expected: &ExpectedToken<'_>) -> UpstreamAnswer<()> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(expected.issuer) {
        return Err(refused("the ID token is of another issuer"));
    }
    let is_for_us = match claims.get("aud") {
        Some(Value::String(one)) => one == expected.client_id,
        Some(Value::Array(all)) => {
            let azp = text("azp");
            let us = all.iter().any(|one| one == expected.client_id);
            us && (all.len() == 1 || azp == Some(expected.client_id))
        }
        _ => false,
    };
    if !is_for_us {
        return Err(refused("the ID token is for another client"));
    }
    let nonce = text("nonce").unwrap_or_default();
    if !hash::ct_eq(nonce.as_bytes(), expected.nonce.as_bytes()) {
        return Err(refused("the ID token is of another sign-in"));
    }
    let time = |name: &str| claims.get(name).and_then(Value::as_u64).map(UnixTime);
    let is_current = time("exp").is_some_and(|end| expected.now < end.plus(LEEWAY))
        && time("iat").is_some_and(|made| made <= expected.now.plus(LEEWAY));
    if !is_current {
        return Err(refused("the ID token is too old or of the future"));
    }
    match text("sub") {
        Some(subject) if !subject.is_empty() => Ok(()),
        _ => Err(refused("the ID token names nobody")),
    }
}
