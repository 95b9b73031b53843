//! did:jwk: identifiers that contain a JSON Web Key.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::{Jwk, KeyError, KeyType, PublicKey};
use serde_json::Value;

use crate::did::Did;
use crate::document::{Document, Relationship, Representation, VerificationMethod};
use crate::resolution::{Resolution, ResolutionError};

use super::key::error;
use super::{Binary, Method, OfKey, Origin, done};

/// did:jwk in the table of methods.
pub const METHOD: Method = Method {
    name: "jwk",
    origin: Origin::Itself,
    plan: |did, options| {
        options.unversioned()?;
        resolve(did, options.accept).map(done)
    },
    read: None,
    anchored: None,
    of_key: Some(OfKey {
        create,
        fragment: |_| FRAGMENT,
    }),
    binary: Some(Binary {
        code: 225,
        write: |did| base64url_decode(did.method_id()).ok(),
        read: |bytes| Some(base64url_encode(bytes)),
    }),
};
/// The fragment of its key, which is its only one.
const FRAGMENT: &str = "0";

/// Makes the did:jwk of a key: the required members in canonical order. Ed25519 keys also get `use`, since they can
/// only sign.
pub fn create(key: &PublicKey) -> Did {
    let mut jwk = key.to_jwk();
    if key.key_type() == KeyType::Ed25519 {
        jwk.use_ = Some("sig".to_owned());
    }
    Did::made(METHOD.name, base64url_encode(&jwk.to_canonical_json()))
}

/// The document of a did:jwk. The key may be of a type that cannot verify: `X25519` has a document too.
pub fn resolve(did: &Did, representation: Representation) -> Result<Resolution, ResolutionError> {
    let (value, jwk) = read(did).map_err(error)?;
    let key = match PublicKey::from_jwk(&jwk) {
        Ok(key) => Some(key),
        Err(KeyError::Unsupported) => None,
        Err(refused) => return Err(error(refused)),
    };
    let id = did
        .with_fragment(FRAGMENT)
        .map_err(|_| ResolutionError::InvalidDid)?;
    let method = VerificationMethod::from_json_web_key(id, value, key);
    let relationships: &[Relationship] = match jwk.use_.as_deref() {
        Some("sig") => &Relationship::SIGNING,
        Some("enc") => &[Relationship::KeyAgreement],
        _ => &Relationship::ALL,
    };
    let mut document = Document::new(did.clone());
    document.add(method, relationships);
    Ok(Resolution::found(document, representation))
}

fn read(did: &Did) -> Result<(Value, Jwk), KeyError> {
    let malformed = KeyError::Malformed("did:jwk");
    if did.method() != METHOD.name {
        return Err(malformed);
    }
    let bytes = base64url_decode(did.method_id()).map_err(|_| malformed)?;
    let value = json::parse(&bytes, &Limits::default()).map_err(|_| malformed)?;
    let jwk = Jwk::from_value(&value)?;
    Ok((value, jwk))
}

#[cfg(test)]
mod tests;
