//! Entries: one act each.

use selfsame_crypto::hash::sha256_parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One act of an operator or an API key. The order of the fields is that of the hashed bytes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Its id, 128 random bits.
    pub id: String,
    /// When, RFC 3339.
    pub at: String,
    /// For which organisation.
    pub organisation: String,
    /// Who.
    pub actor: AuditedActor,
    /// What: a method and the address that it was sent to, such as `POST /api/issuer/offers`.
    pub act: String,
    /// On which object: the beginning of the id in the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Which one that is, such as a credential's type and its number in the status list; nothing about its holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// From which network address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// With which result.
    pub result: AuditResult,
}

/// Who acted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditedActor {
    /// `token`, `person` or `key`; `instance` for what the instance does by itself; `unknown` for a refused sign-in that
    /// named no known person.
    pub kind: String,
    /// The id of the person or the key; absent for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Their name at that time.
    pub name: String,
}

/// What came of an act.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditResult {
    /// It was done.
    Done,
    /// It was refused or failed, for this reason.
    Refused(String),
}

/// The hash of an entry.
pub type EntryHash = [u8; 32];

impl AuditedActor {
    /// The instance, by itself.
    #[must_use]
    pub fn instance() -> Self {
        Self::nameless("instance")
    }

    /// Somebody who is not known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::nameless("unknown")
    }

    fn nameless(kind: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            id: None,
            name: kind.to_owned(),
        }
    }
}

impl AuditEntry {
    /// Its hash: SHA-256 of its JSON, with the fields in the order above and without spaces. The random id hides the
    /// content from those who see the hash alone.
    #[must_use]
    pub fn hash(&self) -> EntryHash {
        // A struct of texts is always JSON.
        let json = serde_json::to_vec(self).unwrap_or_default();
        sha256_parts(&[b"selfsame audit entry\0", &json])
    }
}
