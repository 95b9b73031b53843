//! Bitstring Status List (W3C Recommendation) as a VCDM 2.0 credential secured by JOSE (`vc+jwt`).

use selfsame_crypto::{
    encoding::{base64url_encode, multibase_decode},
    jws,
    time::UnixTime,
};
use serde_json::{Map, Value as Json, json};

use super::{
    Purpose, StatusError,
    bits::{Bits, Width},
    inflate,
    list_claims::{ListClaims, ListKind, Terms, Times, seconds},
};

/// The token's type (VC-JOSE-COSE §3.1.1).
pub(super) const TYP: &str = "vc+jwt";

/// The media type for requesting and serving a list.
pub const MEDIA_TYPE: &str = "application/vc+jwt";

/// Minimum number of entries of a list, for group privacy (§3.2).
pub const MIN_ENTRIES: u64 = 131_072;

const CONTEXT: &str = "https://www.w3.org/ns/credentials/v2";
/// Maximum number of purposes of a list.
const MAX_PURPOSES: usize = 16;

/// A BitstringStatusListCredential without its signature (§2.2). Its statuses have one bit each.
pub fn encode(
    bits: &Bits,
    purpose: Purpose,
    terms: &Terms<'_>,
) -> Result<jws::Unsigned, StatusError> {
    if bits.width() != Width::One {
        return Err(StatusError::Unsupported);
    }
    if bits.len() < MIN_ENTRIES {
        return Err(StatusError::TooShort);
    }
    let most_first: Vec<u8> = bits
        .as_bytes()
        .iter()
        .map(|byte| byte.reverse_bits())
        .collect();
    let compressed = base64url_encode(&inflate::to_gzip(&most_first)?);
    let mut credential = json!({
        "@context": [CONTEXT],
        "id": terms.uri,
        "type": ["VerifiableCredential", "BitstringStatusListCredential"],
        "issuer": terms.issuer,
        "validFrom": terms.issued_at.rfc3339(),
        "credentialSubject": {
            "id": format!("{}#list", terms.uri),
            "type": "BitstringStatusList",
            "statusPurpose": purpose.as_str(),
            "encodedList": format!("u{compressed}"),
        },
    });
    if let Some(members) = credential.as_object_mut() {
        let end = terms.expires_at.map(UnixTime::rfc3339);
        members.extend(end.map(|end| ("validUntil".into(), end.into())));
    }
    let subject = credential.get_mut("credentialSubject");
    if let Some(members) = subject.and_then(Json::as_object_mut) {
        let ttl = terms.ttl.map(|seconds| seconds.saturating_mul(1_000));
        members.extend(ttl.map(|ttl| ("ttl".into(), ttl.into())));
    }
    Ok(jws::Unsigned::new(&terms.header(TYP), &credential))
}

/// §2.2 and §3.2.
pub(super) fn read(uri: &str, credential: &Map<String, Json>) -> Result<ListClaims, StatusError> {
    let context = credential.get("@context").and_then(Json::as_array);
    if context.and_then(|context| context.first()) != Some(&Json::from(CONTEXT)) {
        return Err(StatusError::Malformed("@context"));
    }
    // A list may state its identifier, which must then match: another list of the issuer must not be mistaken for it.
    match credential.get("id") {
        None => {}
        Some(Json::String(id)) if id == uri => {}
        Some(Json::String(_)) => return Err(StatusError::WrongSubject),
        Some(_) => return Err(StatusError::Malformed("id")),
    }
    if !is_of_type(credential, "BitstringStatusListCredential")
        || !is_of_type(credential, "VerifiableCredential")
    {
        return Err(StatusError::Malformed("type"));
    }
    let subject = credential.get("credentialSubject");
    let subject = subject
        .and_then(Json::as_object)
        .ok_or(StatusError::Malformed("credentialSubject"))?;
    if !is_of_type(subject, "BitstringStatusList") {
        return Err(StatusError::Malformed("credentialSubject.type"));
    }
    let kind = ListKind::Bitstring(purposes(subject)?);
    let issuer = issuer(credential)?;
    let times = times(credential, subject)?;
    // §2.2: multibase, and only its base64url without padding.
    let compressed = subject.get("encodedList").and_then(Json::as_str);
    let compressed = compressed
        .filter(|text| text.starts_with('u'))
        .and_then(|text| multibase_decode(text).ok())
        .ok_or(StatusError::Malformed("encodedList"))?;
    let bytes = inflate::from_gzip(&compressed)?;
    if super::bits::entries(bytes.len(), Width::One) < MIN_ENTRIES {
        return Err(StatusError::TooShort);
    }
    Ok(ListClaims {
        kind,
        bytes,
        issuer: Some(issuer),
        times,
    })
}

/// The purposes that concern validity; others are ignored.
fn purposes(subject: &Map<String, Json>) -> Result<Vec<Purpose>, StatusError> {
    let wrong = || StatusError::Malformed("statusPurpose");
    let names = match subject.get("statusPurpose").ok_or_else(wrong)? {
        Json::Array(names) if !names.is_empty() && names.len() <= MAX_PURPOSES => names.as_slice(),
        name @ Json::String(_) => std::slice::from_ref(name),
        _ => return Err(wrong()),
    };
    let names: Option<Vec<&str>> = names.iter().map(Json::as_str).collect();
    Ok(names
        .ok_or_else(wrong)?
        .into_iter()
        .filter_map(Purpose::from_name)
        .collect())
}

/// VCDM 2.0 §4.7; `iss`, if present too, must be equal (VC-JOSE-COSE §3.1.3).
fn issuer(credential: &Map<String, Json>) -> Result<String, StatusError> {
    let issuer = match credential.get("issuer") {
        Some(Json::Object(issuer)) => issuer.get("id").and_then(Json::as_str),
        issuer => issuer.and_then(Json::as_str),
    };
    let issuer = issuer.ok_or(StatusError::Malformed("issuer"))?;
    match credential.get("iss") {
        Some(iss) if iss.as_str() != Some(issuer) => Err(StatusError::Malformed("iss")),
        _ => Ok(issuer.to_owned()),
    }
}

/// The later beginning and the earlier end, of the credential (VCDM 2.0 §4.9) and of its JWT.
fn times(
    credential: &Map<String, Json>,
    subject: &Map<String, Json>,
) -> Result<Times, StatusError> {
    let date = |name: &'static str| match credential.get(name) {
        None => Ok(None),
        Some(text) => text
            .as_str()
            .and_then(UnixTime::parse_rfc3339)
            .map(Some)
            .ok_or(StatusError::Malformed(name)),
    };
    let from = date("validFrom")?;
    let not_before = seconds(credential, "nbf")?.map(UnixTime);
    let until = date("validUntil")?;
    let exp = seconds(credential, "exp")?.map(UnixTime);
    let milliseconds = match subject.get("ttl") {
        None => None,
        Some(ttl) => Some(ttl.as_u64().ok_or(StatusError::Malformed("ttl"))?),
    };
    Ok(Times {
        issued_at: seconds(credential, "iat")?.map(UnixTime).or(from),
        not_before: [from, not_before].into_iter().flatten().max(),
        expires_at: [until, exp].into_iter().flatten().min(),
        ttl: milliseconds.map(|ttl| ttl.div_ceil(1_000)),
    })
}

/// `type` is a string or an array of strings.
pub(super) fn is_of_type(members: &Map<String, Json>, wanted: &str) -> bool {
    match members.get("type") {
        Some(Json::String(name)) => name == wanted,
        Some(Json::Array(names)) => names.iter().any(|name| name.as_str() == Some(wanted)),
        _ => false,
    }
}
