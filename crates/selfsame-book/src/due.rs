//! What an issuer leaves to its own book: credentials that are to be entered, and revocations that are to be noted. Both
//! are written in the commit of the issuance or of the revocation, so that nothing is lost.

use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::entry::uuid;

/// The kind of the records of issued credentials that are to be entered. They are the organisation's.
pub const ISSUED_ENTRY: &str = "book_issued";
/// The kind of the notes of what is due. They are the instance's, so that one look finds those of all books.
pub const DUE: &str = "book_due";

/// An issued credential that is to be entered. Its record has the identifier of the entry.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct IssuedEntry {
    /// The id of its type.
    pub type_id: String,
    /// Who issued it: a DID or a URL.
    pub issuer: String,
    /// The claims that the mapping names.
    pub claims: Map<String, Value>,
    /// The credential as it was issued; of several copies, the first one.
    pub credential: String,
    /// When it was issued.
    pub issued: UnixTime,
}

/// A note of what is due in a book.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct DueNote {
    /// The tenant of the book.
    pub tenant: String,
    /// The identifier of the entry; of a received credential, its identifier in the wallet of the agent; of a book that came,
    /// nothing.
    pub entry: String,
    /// What is to be done.
    pub what: DueWork,
}

/// What is to be done in a book.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DueWork {
    /// A credential was issued, and is to be entered.
    Enter,
    /// A copy of the credential was revoked.
    Revoke,
    /// The organisation's agent has received an AnonCreds credential, which is to be entered.
    EnterReceived,
    /// The book came from another instance, and is to be looked after here.
    Arrived,
}

impl DueWork {
    /// The identifier of a note: of the entry that is to be made, of the copy that was revoked, or of the tenant that came.
    #[must_use]
    pub fn note_id(self, of: &str) -> String {
        match self {
            Self::Enter => format!("enter/{of}"),
            Self::Revoke => format!("revoke/{of}"),
            Self::EnterReceived => format!("received/{of}"),
            Self::Arrived => format!("arrived/{of}"),
        }
    }
}

/// The identifier of an entry, from a random text.
#[must_use]
pub fn entry_of(random: &str) -> String {
    let digest = sha256_parts(&[b"selfsame-book/issued/", random.as_bytes()]);
    uuid(digest.first_chunk::<16>().copied().unwrap_or_default())
}

/// The identifier of the entry of an AnonCreds credential, from all that tells it from others of its holder. If it comes
/// again, its entry is the same.
#[must_use]
pub fn entry_of_held(told: &[&str]) -> String {
    let mut input = Vec::new();
    for one in told {
        input.extend_from_slice(&(one.len() as u64).to_be_bytes());
        input.extend_from_slice(one.as_bytes());
    }
    let digest = sha256_parts(&[b"selfsame-book/held/", &input]);
    uuid(digest.first_chunk::<16>().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::is_uuid;

    #[test]
    fn the_entry_of_a_held_credential_follows_from_all_of_it() {
        let one = entry_of_held(&["a", "bc"]);
        assert!(is_uuid(&one));
        assert_eq!(one, entry_of_held(&["a", "bc"]));
        assert_ne!(one, entry_of_held(&["ab", "c"]));
    }

    #[test]
    fn the_identifier_of_an_entry_is_a_uuid() {
        assert!(is_uuid(&entry_of("a")));
        assert_eq!(entry_of("a"), entry_of("a"));
        assert_ne!(entry_of("a"), entry_of("b"));
    }
}
