//! Keys: what the key management stores about each, in CBOR.

use minicbor::Decoder;
use minicbor::data::Type;
use selfsame_crypto::Secret;
use serde::Deserialize;

use crate::record::{RecordKind, RecordTag, WalletRecord};

/// The category of keys.
const CATEGORY: &str = "cryptokey";
/// The longest value of a key. An entry with the largest key and much metadata is shorter.
const BYTES_MAX: usize = 1024 * 1024;
/// What the key management puts before the names of the tags that its user gave.
const USER: &str = "user:";

/// A key with what is stored about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyEntry {
    /// The name of the algorithm in Askar, such as `ed25519` or `xc20p`.
    pub algorithm: Option<String>,
    /// The JWK thumbprints (RFC 7638), by which the key is found.
    pub thumbprints: Vec<String>,
    /// What the agent noted about the key, in its own format.
    pub metadata: Option<String>,
    /// Who holds the key, if it is not in the wallet.
    pub reference: Option<String>,
    /// The private JWK; with a reference, what its holder knows the key by.
    pub secret: Option<Secret>,
    /// The tags that the agent gave.
    pub tags: Vec<RecordTag>,
}

/// Why a record of the kind `Key` can't be read as a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyEntryError {
    /// The category is not that of keys.
    #[error("the category of this key is unknown")]
    Category,
    /// The value is not a map of at most metadata, reference and data.
    #[error("the value is not that of a key")]
    Malformed,
    /// The key is not the JWK of the algorithm that its tag names.
    #[error("the key is not of the algorithm that its tag names")]
    Algorithm,
}

impl KeyEntry {
    /// The key of a record; `None` if the record is no key.
    pub fn of(record: &WalletRecord) -> Option<Result<Self, KeyEntryError>> {
        (record.kind == RecordKind::Key).then(|| {
            if record.category == CATEGORY {
                Self::parse(record.value.expose(), &record.tags)
            } else {
                Err(KeyEntryError::Category)
            }
        })
    }

    /// Reads the value and the tags of a key.
    ///
    /// # Errors
    /// If the value is malformed, or is not of the algorithm that a tag names.
    pub fn parse(value: &[u8], tags: &[RecordTag]) -> Result<Self, KeyEntryError> {
        if value.len() > BYTES_MAX {
            return Err(KeyEntryError::Malformed);
        }
        let mut entry = params(value).ok_or(KeyEntryError::Malformed)?;
        for tag in tags {
            let value = || tag.value.expose().to_owned();
            if let Some(name) = tag.name.strip_prefix(USER) {
                let name = name.to_owned();
                entry.tags.push(RecordTag {
                    name,
                    ..tag.clone()
                });
            } else if tag.name == "alg" {
                entry.algorithm = Some(value());
            } else if tag.name == "thumb" {
                entry.thumbprints.push(value());
            }
        }
        entry.check_algorithm()?;
        Ok(entry)
    }

    /// A key that is in the wallet is a JWK, of the algorithm of its tag.
    fn check_algorithm(&self) -> Result<(), KeyEntryError> {
        let (None, Some(secret)) = (&self.reference, &self.secret) else {
            return Ok(());
        };
        let head: JwkHead =
            serde_json::from_slice(secret.expose()).map_err(|_| KeyEntryError::Malformed)?;
        let named = self.algorithm.as_deref();
        let named = named.filter(|name| ALGORITHMS.iter().any(|one| one.name == *name));
        let is_one = |algorithm: &KeyAlgorithm| {
            let kty_and_id = algorithm.kty == head.kty && head.id() == Some(algorithm.id);
            kty_and_id && named.is_some_and(|name| name == algorithm.name)
        };
        // An algorithm of a later version is taken as it is.
        match named.is_none() || ALGORITHMS.iter().any(is_one) {
            true => Ok(()),
            false => Err(KeyEntryError::Algorithm),
        }
    }
}

/// What tells the algorithm of a JWK. The other members are secret, and are not copied.
#[derive(Deserialize)]
struct JwkHead {
    kty: String,
    crv: Option<String>,
    alg: Option<String>,
}

impl JwkHead {
    /// The curve; the algorithm of symmetric keys, which have none.
    fn id(&self) -> Option<&str> {
        self.crv.as_deref().or(self.alg.as_deref())
    }
}

/// An algorithm by its name in Askar, and its JWKs.
struct KeyAlgorithm {
    name: &'static str,
    kty: &'static str,
    /// The curve, or for `oct` the algorithm.
    id: &'static str,
}

const fn algorithm(name: &'static str, kty: &'static str, id: &'static str) -> KeyAlgorithm {
    KeyAlgorithm { name, kty, id }
}

const ALGORITHMS: [KeyAlgorithm; 15] = [
    algorithm("a128gcm", "oct", "A128GCM"),
    algorithm("a256gcm", "oct", "A256GCM"),
    algorithm("a128cbchs256", "oct", "A128CBC-HS256"),
    algorithm("a256cbchs512", "oct", "A256CBC-HS512"),
    algorithm("a128kw", "oct", "A128KW"),
    algorithm("a256kw", "oct", "A256KW"),
    algorithm("c20p", "oct", "C20P"),
    algorithm("xc20p", "oct", "XC20P"),
    algorithm("bls12381g1", "EC", "BLS12381G1"),
    algorithm("bls12381g2", "EC", "BLS12381G2"),
    algorithm("k256", "EC", "secp256k1"),
    algorithm("p256", "EC", "P-256"),
    algorithm("p384", "EC", "P-384"),
    algorithm("ed25519", "OKP", "Ed25519"),
    algorithm("x25519", "OKP", "X25519"),
];

/// Reads the map. `None` if a member is unknown or there twice, or if bytes are left over.
fn params(bytes: &[u8]) -> Option<KeyEntry> {
    let mut entry = KeyEntry {
        algorithm: None,
        thumbprints: Vec::new(),
        metadata: None,
        reference: None,
        secret: None,
        tags: Vec::new(),
    };
    let mut from = Decoder::new(bytes);
    let count = from.map().ok()??;
    for _ in 0..count {
        let is_second = match from.str().ok()? {
            "meta" => entry
                .metadata
                .replace(from.str().ok()?.to_owned())
                .is_some(),
            "ref" => entry.reference.replace(reference(&mut from)?).is_some(),
            "data" => {
                let data = Secret::new(from.bytes().ok()?.to_vec());
                entry.secret.replace(data).is_some()
            }
            _ => return None,
        };
        if is_second {
            return None;
        }
    }
    (from.position() == bytes.len()).then_some(entry)
}

/// The name of a variant alone, such as earlier versions had, or the variant `Any` with a text.
fn reference(from: &mut Decoder<'_>) -> Option<String> {
    if matches!(from.datatype().ok()?, Type::String) {
        return Some(from.str().ok()?.to_owned());
    }
    let is_any = from.map().ok()?? == 1 && from.str().ok()? == "Any";
    is_any.then(|| Some(from.str().ok()?.to_owned()))?
}

#[cfg(test)]
mod tests;
