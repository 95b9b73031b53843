//! Identifiers of issuers, schemas, credential definitions and revocation registries.
//!
//! There are two forms: any URI (`did:indy:…/anoncreds/v0/SCHEMA/…` and those of other methods), and the legacy form of
//! Indy, in which a DID is 21 or 22 characters of base58 and the other identifiers are built from it with `:2:`,
//! `:3:CL:`, `:4:` (AnonCreds v1.0, "AnonCreds Identifiers"). Legacy identifiers that begin with a letter are also
//! valid URIs.

use serde::{Deserialize, Deserializer, Serialize};

use super::limits::MAX_NAME;
use super::message::why;
use crate::Error;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $what:literal, $legacy:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Parses an identifier: a URI or the legacy form.
            pub fn new(text: impl Into<String>) -> Result<Self, Error> {
                let text = text.into();
                if text.len() > MAX_NAME {
                    return Err(Error::TooLarge { what: $what, limit: MAX_NAME });
                }
                if is_uri(&text) || $legacy(&text) {
                    return Ok(Self(text));
                }
                Err(Error::Malformed { what: $what, why: why::IDENTIFIER })
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether it has the legacy form, even if it is also a valid URI.
            pub fn is_legacy(&self) -> bool {
                $legacy(&self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(text).map_err(|_| serde::de::Error::custom(why::IDENTIFIER))
            }
        }
    };
}

identifier!(
    /// The identifier of an issuer: a DID, another URI, or a legacy DID.
    IssuerId, "an issuer's identifier", is_legacy_did
);
identifier!(
    /// The identifier of a schema: `<did>:2:<name>:<version>` in the legacy form. The sequence number on an Indy
    /// ledger, which replaces it in definitions of that time, is accepted too.
    SchemaId, "a schema's identifier", is_legacy_schema_or_number
);
identifier!(
    /// The identifier of a credential definition: `<did>:3:CL:<schema>:<tag>` in the legacy form.
    CredentialDefinitionId, "a credential definition's identifier", is_legacy_definition
);
identifier!(
    /// The identifier of a revocation registry: `<did>:4:<credential definition>:CL_ACCUM:<tag>` in the legacy form.
    RevocationRegistryId, "a revocation registry's identifier", is_legacy_registry
);

impl SchemaId {
    /// Whether it is a ledger sequence number, which identifies a schema only together with that ledger.
    pub fn is_sequence_number(&self) -> bool {
        is_number(&self.0)
    }
}

impl IssuerId {
    /// The issuer's DID in a legacy identifier of an object: the part before the first colon.
    pub(crate) fn of_legacy(identifier: &str) -> Option<Self> {
        let (did, _) = identifier.split_once(':')?;
        is_legacy_did(did).then(|| Self(did.to_owned()))
    }
}

/// A scheme, a colon, and something after it (RFC 3986, 3.1); no line break.
pub(crate) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut letters = scheme.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !rest.is_empty()
        && !rest.contains('\n')
}

/// 21 or 22 characters of base58.
pub(crate) fn is_legacy_did(text: &str) -> bool {
    let base58 = |c: char| c.is_ascii_alphanumeric() && !matches!(c, '0' | 'O' | 'I' | 'l');
    matches!(text.len(), 21 | 22) && text.chars().all(base58)
}

fn is_number(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn is_legacy_schema_or_number(text: &str) -> bool {
    is_number(text)
        || matches!(text.split(':').collect::<Vec<_>>().as_slice(), parts if schema_parts(parts))
}

fn schema_parts(parts: &[&str]) -> bool {
    matches!(parts, [did, "2", name, version]
        if is_legacy_did(did) && !name.is_empty() && is_version(version))
}

fn is_legacy_definition(text: &str) -> bool {
    definition_parts(&text.split(':').collect::<Vec<_>>(), true)
}

/// `<did>:3:CL:<number or schema>:<tag>`.
fn definition_parts(parts: &[&str], empty_tag: bool) -> bool {
    let [did, "3", "CL", schema @ .., tag] = parts else {
        return false;
    };
    let schema = match schema {
        [number] => is_number(number),
        parts => schema_parts(parts),
    };
    is_legacy_did(did) && schema && (empty_tag || !tag.is_empty())
}

fn is_legacy_registry(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    matches!(parts.as_slice(), [did, "4", definition @ .., "CL_ACCUM", _tag]
        if is_legacy_did(did) && definition_parts(definition, false))
}
