//! Keys from DID documents (VC-JOSE-COSE §4.3; for SD-JWT VC our own profile).

use selfsame_crypto::{Jwk, PublicKey};
use selfsame_did::{Did, DidUrl, Document, Material, Resolution};

use super::{Claimed, Finding};
use crate::evidence::{Evidence, Need};

pub(super) fn find(claimed: &Claimed<'_>, did: &Did, evidence: &Evidence) -> Finding {
    match evidence.did(did) {
        Some(fetched) => match &fetched.value {
            Ok(resolution) => in_resolution(claimed, did, resolution).or_ask_again(
                Need::Did(did.clone()),
                fetched.at,
                evidence,
            ),
            Err(unavailable) => Finding::Unavailable(unavailable.reason.clone()),
        },
        // Documents that can be computed from the DID need no fetch.
        None => match evidence.resolved(did) {
            Ok(Some(resolution)) => in_resolution(claimed, did, &resolution),
            Ok(None) => Finding::Missing(Need::Did(did.clone())),
            Err(_) => Finding::Refused("the DID can't be resolved"),
        },
    }
}

fn in_resolution(claimed: &Claimed<'_>, did: &Did, resolution: &Resolution) -> Finding {
    if resolution.document_metadata.deactivated {
        return Finding::Refused("the DID is deactivated");
    }
    match resolution.document() {
        Err(error) => Finding::Unavailable(format!("the DID did not resolve: {}", error.code())),
        Ok(document) if document.id != *did => {
            Finding::Refused("the DID document is that of another DID")
        }
        Ok(document) => match key_in(claimed, did, document) {
            Ok(key) => Finding::Key(Box::new(key)),
            Err(reason) => Finding::Refused(reason),
        },
    }
}

fn key_in(
    claimed: &Claimed<'_>,
    did: &Did,
    document: &Document,
) -> Result<PublicKey, &'static str> {
    let (url, key) = match claimed.header.kid.as_deref() {
        Some(kid) => {
            let url = method_url(kid, did)?;
            let key = document.key(&url, claimed.relationship);
            let key = key.map_err(|_| "the DID document has no such key for this purpose")?;
            (url, key)
        }
        None => {
            let mut keys = document.keys(claimed.relationship);
            match (keys.next(), keys.next()) {
                (Some(only), None) => only,
                _ => {
                    let reason =
                        "the token does not name the key of the DID document that signed it";
                    return Err(reason);
                }
            }
        }
    };
    // A JWK may state its own purpose.
    let jwk = document
        .methods()
        .find_map(|method| match method.material() {
            Material::Jwk(jwk) if method.id == url => Jwk::from_value(jwk).ok(),
            _ => None,
        });
    match jwk.is_none_or(|jwk| jwk.may_verify(claimed.header.alg)) {
        true => Ok(key),
        false => Err("the key in the DID document is not for this algorithm"),
    }
}

/// `kid` is the absolute URL of a verification method, or only its fragment.
fn method_url(kid: &str, did: &Did) -> Result<DidUrl, &'static str> {
    let url = DidUrl::join(did, kid).map_err(|_| "the key identifier is not a DID URL")?;
    if url.did != *did {
        return Err("the key belongs to another DID than the stated one");
    }
    Ok(url)
}
