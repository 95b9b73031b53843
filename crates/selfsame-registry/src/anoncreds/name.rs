//! Names of AnonCreds objects: `<did>/anoncreds/v0/<kind>/<of>/<tag>`, as did:indy has them, but
//! with the digest of what an object belongs to in place of a ledger's number.

use std::fmt;

use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::hash::sha256;
use selfsame_did::Did;
use selfsame_did::selfsame::{Network, prefix};

use crate::identifier::Identifier;

const FAMILY: &str = "/anoncreds/v0/";
const MAX_PART_BYTES: usize = 128;

/// The name of a schema, a credential definition or a revocation registry: a DID URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectName {
    network: String,
    owner: Identifier,
    kind: &'static str,
    /// Percent-encoded, without slashes.
    parts: [String; 2],
}

pub(crate) const SCHEMA: &str = "SCHEMA";
pub(crate) const DEFINITION: &str = "CLAIM_DEF";
pub(crate) const REGISTRY: &str = "REV_REG_DEF";

impl ObjectName {
    /// The name of a schema; none where its name or version is empty or longer than 128 bytes.
    pub fn schema(did: &Did, name: &str, version: &str) -> Option<Self> {
        Self::of_did(did, SCHEMA, [encode(name)?, encode(version)?])
    }

    /// The name of a credential definition for the schema of that identifier.
    pub fn definition(did: &Did, schema: &str, tag: &str) -> Option<Self> {
        Self::of_did(did, DEFINITION, [digest(schema), encode(tag)?])
    }

    /// The name of a revocation registry of the definition of that identifier.
    pub fn registry(did: &Did, definition: &str, tag: &str) -> Option<Self> {
        Self::of_did(did, REGISTRY, [digest(definition), encode(tag)?])
    }

    /// Reads a name of that network.
    pub fn parse(text: &str, network: &str) -> Option<Self> {
        let (did, path) = text.split_once(FAMILY)?;
        let owner = Did::parse(did).ok()?;
        let parts: Vec<&str> = path.split('/').collect();
        let [kind, first, second] = parts.as_slice() else {
            return None;
        };
        let kind = [SCHEMA, DEFINITION, REGISTRY]
            .into_iter()
            .find(|known| known == kind)?;
        let parts = [(*first).to_owned(), (*second).to_owned()];
        let name = Self::of_did(&owner, kind, parts)?;
        // One spelling for each name, and only of this network.
        (name.network == network && name.is_plain() && name.to_string() == text).then_some(name)
    }

    /// Whose it is.
    pub fn owner(&self) -> Identifier {
        self.owner
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its path in the state; the parts have no slashes, so each path is unique.
    pub(crate) fn path(&self) -> String {
        let [first, second] = &self.parts;
        format!("{}/{}/{first}/{second}", self.owner, self.kind)
    }

    fn of_did(did: &Did, kind: &'static str, parts: [String; 2]) -> Option<Self> {
        let (network, _) = selfsame_did::selfsame::parts(did)?;
        Some(Self {
            owner: Identifier::of_did(did, &network)?,
            network: Network::as_str(&network).to_owned(),
            kind,
            parts,
        })
    }

    fn is_plain(&self) -> bool {
        let plain = |byte: u8| is_unreserved(byte) || byte == b'%';
        self.parts.iter().all(|part| {
            (1..=MAX_PART_BYTES.saturating_mul(3)).contains(&part.len()) && part.bytes().all(plain)
        })
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.parts;
        let Self {
            network,
            owner,
            kind,
            ..
        } = self;
        write!(
            f,
            "{}{owner}{FAMILY}{kind}/{first}/{second}",
            prefix(network)
        )
    }
}

/// The first 16 bytes of SHA-256 of an identifier, in base58.
fn digest(identifier: &str) -> String {
    let digest = sha256(identifier.as_bytes());
    base58_encode(digest.get(..16).unwrap_or_default())
}

/// RFC 3986 §2.1 and §2.3: all but the unreserved characters is percent-encoded, in upper case.
fn encode(text: &str) -> Option<String> {
    if !(1..=MAX_PART_BYTES).contains(&text.len()) {
        return None;
    }
    let mut encoded = String::new();
    for byte in text.bytes() {
        match is_unreserved(byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    Some(encoded)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
