//! Keys from JWT VC Issuer Metadata (SD-JWT VC §4).

use selfsame_crypto::{Jwk, PublicKey, json};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

use super::{Claimed, Finding};
use crate::evidence::{Evidence, Fetched, Need};

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks: Option<JwkSet>,
    jwks_uri: Option<String>,
}

/// Keys are read one by one, so that one of an unsupported kind does not affect the others (RFC 7517 §5).
#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

pub(super) fn find(claimed: &Claimed<'_>, iss: &str, evidence: &Evidence) -> Finding {
    if !is_issuer_url(iss) {
        return Finding::Refused("the issuer is neither a DID nor an https URL");
    }
    let Some(fetched) = evidence.issuer_metadata(iss) else {
        return Finding::Missing(Need::IssuerMetadata(iss.to_owned()));
    };
    let need = Need::IssuerMetadata(iss.to_owned());
    in_metadata(claimed, iss, fetched, evidence).or_ask_again(need, fetched.at, evidence)
}

fn in_metadata(
    claimed: &Claimed<'_>,
    iss: &str,
    fetched: &Fetched<Vec<u8>>,
    evidence: &Evidence,
) -> Finding {
    let metadata: Metadata = match read(fetched) {
        Ok(metadata) => metadata,
        Err(finding) => return finding,
    };
    // §4.2: identical, not merely equivalent.
    if metadata.issuer != iss {
        return Finding::Refused("the issuer metadata is that of another issuer");
    }
    match (metadata.jwks, metadata.jwks_uri) {
        (Some(set), None) => key_in(claimed, &set),
        (None, Some(uri)) => in_jwk_set(claimed, uri, evidence),
        _ => Finding::Refused("the issuer metadata must have either jwks or jwks_uri"),
    }
}

fn in_jwk_set(claimed: &Claimed<'_>, uri: String, evidence: &Evidence) -> Finding {
    let Some(fetched) = evidence.jwk_set(&uri) else {
        return match has_safe_transport(&uri) {
            true => Finding::Missing(Need::JwkSet(uri)),
            false => Finding::Refused("jwks_uri is not an https URL"),
        };
    };
    let finding = read(fetched).map_or_else(|finding| finding, |set| key_in(claimed, &set));
    finding.or_ask_again(Need::JwkSet(uri), fetched.at, evidence)
}

fn read<T: for<'de> Deserialize<'de>>(fetched: &Fetched<Vec<u8>>) -> Result<T, Finding> {
    match &fetched.value {
        Ok(bytes) => json::parse_as(bytes, &json::Limits::default()).map_err(|_| {
            Finding::Unavailable("the issuer's metadata or key set can't be read".to_owned())
        }),
        Err(unavailable) => Err(Finding::Unavailable(unavailable.reason.clone())),
    }
}

/// The key that `kid` names; without `kid` the only key in the set.
fn key_in(claimed: &Claimed<'_>, set: &JwkSet) -> Finding {
    let wanted = claimed.header.kid.as_deref();
    let mut keys = set.keys.iter().filter(|key| match wanted {
        Some(kid) => key.get("kid").and_then(Value::as_str) == Some(kid),
        None => true,
    });
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Finding::Refused("the issuer's key set does not have exactly one such key");
    };
    let jwk = Jwk::from_value(key).ok();
    let jwk = jwk.filter(|jwk| jwk.may_verify(claimed.header.alg));
    match jwk.and_then(|jwk| PublicKey::from_jwk(&jwk).ok()) {
        Some(key) => Finding::Key(Box::new(key)),
        None => Finding::Refused("the issuer's key can't be read or is not for this algorithm"),
    }
}

/// §4: an https URL without query and fragment.
fn is_issuer_url(text: &str) -> bool {
    has_safe_transport(text) && !text.contains(['?', '#'])
}

/// https, and no credentials in the URL. Plain http only for a loopback origin; the caller that fetches decides whether
/// that origin is allowed.
fn has_safe_transport(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let transport = match (url.scheme(), url.host()) {
        ("https", host) => host.is_some(),
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        ("http", Some(Host::Domain(name))) => name == "localhost",
        _ => false,
    };
    transport && url.username().is_empty() && url.password().is_none()
}
