//! Compact credentials of machines (`cwt`): COSE_Sign1 over a CWT of our own profile (docs/tls.md). They are presented
//! in TLS handshakes. OpenID4VCI has no such format, so the identifier is that of the media type (RFC 8392 §9.2).

pub(super) mod content;
mod describe;
mod hold;
mod issue;
pub(super) mod sign1;
pub(crate) mod verify;

pub use self::{
    content::{CoseStatus, CoseSubject, CoseVc, MAX_CLAIMS, MAX_TYPES},
    hold::to_bytes,
    issue::{Draft, Issue, IssueError},
    sign1::{CoseDraft, CoseMessage, KEY_ID_BYTES, NotCompact, numbers, short_key_id},
};
use super::entry::Entry;

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read_credential,
    read_presentation: verify::read_presentation,
    is_like: |raw| hold::read(raw).is_ok(),
    bare: |_| None,
    too_much: verify::too_much,
    w3c: None,
};

#[cfg(test)]
pub(crate) mod tests;
