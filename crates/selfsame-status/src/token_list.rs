//! Token Status List in its JWT form (draft-ietf-oauth-status-list).

use selfsame_crypto::{
    encoding::{base64url_decode, base64url_encode},
    jws,
    time::UnixTime,
};
use serde_json::{Map, Value as Json, json};

use super::{
    StatusError,
    bits::{Bits, Width},
    inflate,
    list_claims::{ListClaims, ListKind, Terms, Times, seconds},
};

/// The token's type (§5.1).
pub(super) const TYP: &str = "statuslist+jwt";

/// The media type for requesting and serving a list (§8.2).
pub const MEDIA_TYPE: &str = "application/statuslist+jwt";

/// A Status List Token without its signature (§5.1).
pub fn encode(bits: &Bits, terms: &Terms<'_>) -> Result<jws::Unsigned, StatusError> {
    let mut claims = json!({
        "iss": terms.issuer,
        "sub": terms.uri,
        "iat": terms.issued_at.0,
        "status_list": {
            "bits": bits.width().bits(),
            "lst": base64url_encode(&inflate::to_zlib(bits.as_bytes())?),
        },
    });
    if let Some(members) = claims.as_object_mut() {
        members.extend(terms.expires_at.map(|end| ("exp".into(), end.0.into())));
        members.extend(terms.ttl.map(|ttl| ("ttl".into(), ttl.into())));
    }
    Ok(jws::Unsigned::new(&terms.header(TYP), &claims))
}

/// §5.1 and §8.3.
pub(super) fn read(uri: &str, claims: &Map<String, Json>) -> Result<ListClaims, StatusError> {
    let sub = claims.get("sub").and_then(Json::as_str);
    if sub.ok_or(StatusError::Malformed("sub"))? != uri {
        return Err(StatusError::WrongSubject);
    }
    let issued_at = seconds(claims, "iat")?.ok_or(StatusError::Malformed("iat"))?;
    let ttl = seconds(claims, "ttl")?;
    if ttl == Some(0) {
        return Err(StatusError::Malformed("ttl"));
    }
    let issuer = match claims.get("iss") {
        None => None,
        Some(Json::String(issuer)) => Some(issuer.clone()),
        Some(_) => return Err(StatusError::Malformed("iss")),
    };
    let list = claims.get("status_list").and_then(Json::as_object);
    let list = list.ok_or(StatusError::Malformed("status_list"))?;
    let width = list.get("bits").and_then(Json::as_u64);
    let width = width
        .and_then(Width::from_bits)
        .ok_or(StatusError::Malformed("bits"))?;
    let compressed = list.get("lst").and_then(Json::as_str);
    let compressed = compressed
        .and_then(|text| base64url_decode(text).ok())
        .ok_or(StatusError::Malformed("lst"))?;
    Ok(ListClaims {
        kind: ListKind::Token(width),
        bytes: inflate::from_zlib(&compressed)?,
        issuer,
        times: Times {
            issued_at: Some(UnixTime(issued_at)),
            not_before: seconds(claims, "nbf")?.map(UnixTime),
            expires_at: seconds(claims, "exp")?.map(UnixTime),
            ttl,
        },
    })
}
