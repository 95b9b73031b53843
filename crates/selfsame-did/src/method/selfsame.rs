//! did:selfsame: identifiers of the registry, `did:selfsame:<network>:<id>`.

use std::fmt;

use selfsame_crypto::encoding::{
    base32_lower_decode, base32_lower_encode, base58_decode, base58_encode,
};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PublicKey};
use serde::{Deserialize, Serialize};

use crate::did::{Did, SyntaxError};
use crate::resolution::ResolutionError;

use super::{Binary, Method, Origin, ResolutionPlan};

/// did:selfsame in the table of methods.
pub const METHOD: Method = Method {
    name: "selfsame",
    origin: Origin::Registry,
    plan: |did, options| {
        parts(did).ok_or(ResolutionError::InvalidDid)?;
        Ok(ResolutionPlan::Registry {
            did: did.clone(),
            options: options.clone(),
        })
    },
    read: None,
    anchored: None,
    of_key: None,
    binary: Some(Binary {
        code: 227,
        write,
        read,
    }),
};

/// The number of digest bytes in a network's name.
const NETWORK_BYTES: usize = 10;
/// The number of digest bytes in a subject's identifier.
const ID_BYTES: usize = 16;

/// The name of a registry network: lower-case base32 of the first 10 bytes of its genesis' SHA-256.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network(String);

impl Network {
    /// The network with this genesis.
    pub fn of_genesis(genesis: &[u8]) -> Self {
        let digest = sha256(genesis);
        Self(base32_lower_encode(
            digest.get(..NETWORK_BYTES).unwrap_or_default(),
        ))
    }

    /// Parses a network's name.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        match base32_lower_decode(text) {
            Ok(bytes) if bytes.len() == NETWORK_BYTES => Ok(Self(text.to_owned())),
            _ => Err(SyntaxError::MethodId),
        }
    }

    /// The network's name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Makes the DID of the subject whose first key is `initial`.
pub fn create(network: &Network, initial: &PublicKey) -> Did {
    Did::made(METHOD.name, format_args!("{network}:{}", id_of(initial)))
}

/// What the DIDs of a network begin with; the subject's identifier follows.
pub fn prefix(network: &str) -> String {
    format!("{}:{network}:", METHOD.scheme())
}

/// The network and subject of a did:selfsame; `None` for another method.
pub fn parts(did: &Did) -> Option<(Network, String)> {
    let (network, id) = did
        .method_id()
        .split_once(':')
        .filter(|_| did.method() == METHOD.name)?;
    let is_id = base58_decode(id).is_ok_and(|bytes| bytes.len() == ID_BYTES);
    is_id.then(|| Some((Network::parse(network).ok()?, id.to_owned())))?
}

/// The bytes of the subject's identifier, if `did` is a did:selfsame of this network; otherwise `None`.
pub fn id_in(did: &Did, network: &Network) -> Option<[u8; ID_BYTES]> {
    let (of, id) = did
        .method_id()
        .split_once(':')
        .filter(|_| did.method() == METHOD.name)?;
    match of == network.as_str() {
        true => base58_decode(id).ok()?.try_into().ok(),
        false => None,
    }
}

/// The subject identifier for a first key: base58 of the first 16 bytes of the SHA-256 of the key with its multicodec.
pub fn id_of(initial: &PublicKey) -> String {
    base58_encode(
        sha256(&initial.to_multicodec())
            .get(..ID_BYTES)
            .unwrap_or_default(),
    )
}

/// The subject identifier for an Ed25519 key under Indy's rule: base58 of the key's first 16 bytes. Only for DIDs that
/// are registered by seed.
pub fn indy_id_of(initial: &PublicKey) -> Option<String> {
    let is_ed25519 = initial.key_type() == KeyType::Ed25519;
    initial
        .bytes()
        .get(..ID_BYTES)
        .filter(|_| is_ed25519)
        .map(base58_encode)
}

fn write(did: &Did) -> Option<Vec<u8>> {
    let (network, id) = parts(did)?;
    let network = base32_lower_decode(network.as_str()).ok()?;
    Some([network, base58_decode(&id).ok()?].concat())
}

fn read(bytes: &[u8]) -> Option<String> {
    let (network, id) = bytes.split_at_checked(NETWORK_BYTES)?;
    let id = <[u8; ID_BYTES]>::try_from(id).ok()?;
    let network = base32_lower_encode(network);
    Some(format!("{network}:{}", base58_encode(&id)))
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Network {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        Self::parse(&text)
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.0
    }
}

#[cfg(test)]
mod tests;
