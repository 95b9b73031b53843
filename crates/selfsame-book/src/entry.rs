//! What is kept of an entry: its credential's claims, and what happened to it later.

use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a record of a book says. Records are written once; a later one says what became of an earlier one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum BookChange {
    /// A credential was entered.
    Entered(Box<EntryRecord>),
    /// A credential was revoked.
    Revoked(RevokedEntry),
    /// A credential was erased. This is all that is left of it.
    Erased(ErasedEntry),
}

/// An entered credential.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct EntryRecord {
    /// Its identifier in the book: a UUID.
    pub credential_id: String,
    /// The id of its type.
    pub type_id: String,
    /// Who issued it: a DID or a URL.
    pub issuer: String,
    /// Its claims.
    pub claims: Map<String, Value>,
    /// The credential as it was issued, if it is one that can be verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The AnonCreds credential that the organisation's agent holds, if the entry is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<AnonCredsEntry>,
    /// When it was issued, in seconds from 1970, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<i64>,
    /// When it was entered.
    pub entered: UnixTime,
}

/// The AnonCreds credential of an entry. The credential itself is in the wallet of the organisation's agent, which alone
/// can present it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AnonCredsEntry {
    /// Its identifier in the wallet.
    pub referent: String,
    /// The identifier of its schema.
    pub schema_id: String,
    /// The identifier of its credential definition.
    pub cred_def_id: String,
    /// The revocation registry, if it can be revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev_reg_id: Option<String>,
    /// Its index there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cred_rev_id: Option<u32>,
}

/// The revocation of an entered credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RevokedEntry {
    /// Which one.
    pub credential_id: String,
    /// When the book learned of it.
    pub at: UnixTime,
}

/// The tombstone of an erased credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ErasedEntry {
    /// Which one.
    pub credential_id: String,
    /// When it was erased.
    pub at: UnixTime,
    /// Why, in the words of the person who erased it; it says nothing about the topic.
    pub ground: String,
}

impl BookChange {
    /// The credential that it is about.
    #[must_use]
    pub fn credential_id(&self) -> &str {
        match self {
            Self::Entered(entry) => &entry.credential_id,
            Self::Revoked(revoked) => &revoked.credential_id,
            Self::Erased(erased) => &erased.credential_id,
        }
    }

    /// The identifier of its record.
    #[must_use]
    pub fn record_id(&self) -> String {
        match self {
            Self::Entered(entry) => entry.credential_id.clone(),
            Self::Revoked(revoked) => format!("revoked/{}", revoked.credential_id),
            Self::Erased(erased) => erased_id(&erased.credential_id),
        }
    }
}

/// The identifier of the tombstone of an entry.
#[must_use]
pub fn erased_id(credential_id: &str) -> String {
    format!("erased/{credential_id}")
}

/// A UUID of these random bytes (RFC 9562 §5.4).
#[must_use]
pub fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = selfsame_crypto::encoding::hex_encode(&bytes);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    let parts = [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ];
    parts.join("-")
}

/// Whether a text has the form of a UUID in lower case.
#[must_use]
pub fn is_uuid(text: &str) -> bool {
    let fits = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_uuids_of_version_four() {
        let id = uuid([0xff; 16]);
        assert_eq!(id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert!(is_uuid(&id));
        for other in [
            "",
            "ffffffff-ffff-4fff-bfff-fffffffffff",
            "FFFFFFFF-ffff-4fff-bfff-ffffffffffff",
            "ffffffffffff-4fff-bfff-ffffffffffff--",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }

    #[test]
    fn a_tombstone_says_nothing_of_what_was_erased() {
        let erased = BookChange::Erased(ErasedEntry {
            credential_id: uuid([1; 16]),
            at: UnixTime(0),
            ground: "court order 7/26".to_owned(),
        });
        let written = serde_json::to_value(&erased).unwrap();
        let members: Vec<&String> = written.as_object().unwrap().keys().collect();
        assert_eq!(members, ["at", "change", "credential_id", "ground"]);
    }
}
