//! did:key: identifiers that contain a public key (did:key Method v0.7, and EBSI's jwk_jcs-pub form).

use selfsame_crypto::encoding::{multibase_base58_encode, multibase_decode};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::{Jwk, KeyError, PublicKey};

use crate::did::Did;
use crate::document::{Document, Relationship, Representation, VerificationMethod};
use crate::resolution::{Resolution, ResolutionError};

use super::{Binary, Method, OfKey, Origin, done};

/// did:key in the table of methods.
pub const METHOD: Method = Method {
    name: "key",
    origin: Origin::Itself,
    plan: |did, options| {
        options.unversioned()?;
        resolve(did, options.accept).map(done)
    },
    read: None,
    anchored: None,
    of_key: Some(OfKey { create, fragment }),
    binary: Some(Binary {
        code: 224,
        write: |did| multibase_decode(did.method_id()).ok(),
        read: |bytes| Some(multibase_base58_encode(bytes)),
    }),
};

/// The multicodec `jwk_jcs-pub` (0xeb51) as a varint.
const JWK_JCS_PUB: [u8; 3] = [0xd1, 0xd6, 0x03];

/// Makes the did:key of a key in its multicodec form.
pub fn create(key: &PublicKey) -> Did {
    Did::made(METHOD.name, key.to_multikey())
}

/// Makes the did:key of a key as canonical JWK (multicodec jwk_jcs-pub), as EBSI's natural persons use it.
pub fn create_jwk_jcs(key: &PublicKey) -> Did {
    let bytes = [JWK_JCS_PUB.as_slice(), &key.to_jwk().to_canonical_json()].concat();
    Did::made(METHOD.name, multibase_base58_encode(&bytes))
}

/// The document of a did:key.
pub fn resolve(did: &Did, representation: Representation) -> Result<Resolution, ResolutionError> {
    let (key, value, is_jwk) = read(did).map_err(error)?;
    let id = did
        .with_fragment(value)
        .map_err(|_| ResolutionError::InvalidDid)?;
    let method = if is_jwk {
        VerificationMethod::json_web_key(id, &key)
    } else {
        VerificationMethod::suited(id, &key)
    };
    let mut document = Document::new(did.clone());
    document.add(method, &Relationship::SIGNING);
    Ok(Resolution::found(document, representation))
}

pub(super) fn error(error: KeyError) -> ResolutionError {
    match error {
        KeyError::Unsupported => ResolutionError::FeatureNotSupported,
        KeyError::Backend => ResolutionError::InternalError,
        KeyError::Malformed(_) | KeyError::Weak(_) | KeyError::Private => {
            ResolutionError::InvalidDid
        }
    }
}

/// The fragment of its key: the key itself (did:key §3.1.3).
fn fragment(did: &Did) -> &str {
    let id = did.method_id();
    id.rsplit_once(':').map_or(id, |(_version, key)| key)
}

/// The key, its multibase text, and whether it is in JWK form.
fn read(did: &Did) -> Result<(PublicKey, &str, bool), KeyError> {
    let malformed = KeyError::Malformed("did:key");
    let value = match did.method_id().split_once(':') {
        None => did.method_id(),
        // did:key §3.1.1 step 3: a version, if present, must be a positive integer.
        Some((version, value)) if version.parse::<u32>().is_ok_and(|version| version > 0) => value,
        Some(_) => return Err(malformed),
    };
    if did.method() != METHOD.name || !value.starts_with('z') {
        return Err(malformed);
    }
    let bytes = multibase_decode(value).map_err(|_| malformed)?;
    match bytes.strip_prefix(&JWK_JCS_PUB) {
        None => Ok((PublicKey::from_multicodec(&bytes)?, value, false)),
        Some(jwk) => Ok((canonical_jwk(jwk)?, value, true)),
    }
}

/// Only the canonical text of the required members is accepted, so that each key has one identifier of this form.
fn canonical_jwk(bytes: &[u8]) -> Result<PublicKey, KeyError> {
    let malformed = KeyError::Malformed("JWK in a did:key");
    let value = json::parse(bytes, &Limits::default()).map_err(|_| malformed)?;
    let key = PublicKey::from_jwk(&Jwk::from_value(&value)?)?;
    if key.to_jwk().to_canonical_json() == bytes {
        Ok(key)
    } else {
        Err(malformed)
    }
}

#[cfg(test)]
mod tests;
