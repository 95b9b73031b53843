//! did:cheqd: identifiers of the cheqd network, and the bytes that their keys sign for changes.

mod binary;
mod draft;
pub mod resource;

use std::fmt;
use std::str::FromStr;

use selfsame_crypto::encoding::base58_decode;
use serde::{Deserialize, Serialize};

use crate::did::{Did, SyntaxError};
use crate::resolution::ResolutionError;

use super::{Binary, Method, Origin, ResolutionPlan};

pub use draft::{DocumentDraft, deactivation_bytes};

/// did:cheqd in the table of methods.
pub const METHOD: Method = Method {
    name: "cheqd",
    origin: Origin::Resolver,
    plan: |did, _| {
        parts(did).ok_or(ResolutionError::InvalidDid)?;
        Ok(ResolutionPlan::Resolver(did.clone()))
    },
    read: None,
    anchored: None,
    of_key: None,
    binary: Some(Binary {
        code: 228,
        write: binary::write,
        read: binary::read,
    }),
};

/// The length in bytes of an Indy-style identifier.
const INDY_BYTES: usize = 16;
/// The lengths of the parts of a UUID in text form (RFC 9562 §4).
const UUID_PARTS: [usize; 5] = [8, 4, 4, 4, 12];

/// The cheqd ledgers.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheqdNetwork {
    /// Writing there costs money.
    Mainnet,
    /// For tests.
    #[default]
    Testnet,
}

impl CheqdNetwork {
    /// The network's name in DIDs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Testnet => "testnet",
        }
    }
}

impl FromStr for CheqdNetwork {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        match text {
            "mainnet" => Ok(Self::Mainnet),
            "testnet" => Ok(Self::Testnet),
            _ => Err(SyntaxError::MethodId),
        }
    }
}

impl fmt::Display for CheqdNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Makes the DID of these random bytes on a network.
pub fn create(network: CheqdNetwork, random: [u8; 16]) -> Did {
    Did::made(METHOD.name, format_args!("{network}:{}", uuid(random)))
}

/// The network and the identifier of a did:cheqd; `None` for another method.
///
/// The identifier is a UUID in lower case or the base58 of 16 bytes (cheqd's ADR 001 and its validation of
/// identifiers). A UUID in upper case would be a second name for the same subject and is refused.
pub fn parts(did: &Did) -> Option<(CheqdNetwork, &str)> {
    let (network, id) = did
        .method_id()
        .split_once(':')
        .filter(|_| did.method() == METHOD.name)?;
    let is_id = is_uuid(id) || base58_decode(id).is_ok_and(|bytes| bytes.len() == INDY_BYTES);
    is_id.then(|| Some((network.parse().ok()?, id)))?
}

/// Makes a random UUID (RFC 9562 §5.4) from these bytes.
pub fn uuid(random: [u8; 16]) -> String {
    // The bits of the version, 4, and of the variant, 0b10.
    const FIXED: u128 = (0xf << 76) | (0b11 << 62);
    const VALUE: u128 = (0x4 << 76) | (0b10 << 62);
    dashed(u128::from_be_bytes(random) & !FIXED | VALUE)
}

/// The text of a UUID of any version.
fn dashed(uuid: u128) -> String {
    let hex = format!("{uuid:032x}");
    let mut text = String::with_capacity(36);
    let mut rest = hex.as_str();
    for length in UUID_PARTS {
        if !text.is_empty() {
            text.push('-');
        }
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        text.push_str(part);
        rest = after;
    }
    text
}

/// Whether a text is a UUID in lower case.
pub fn is_uuid(text: &str) -> bool {
    let is_hex = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let mut lengths = UUID_PARTS.iter();
    text.split('-')
        .all(|part| lengths.next() == Some(&part.len()) && is_hex(part))
        && lengths.next().is_none()
}

#[cfg(test)]
mod tests;
