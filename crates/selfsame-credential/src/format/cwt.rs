//! Compact credentials of machines (`cwt`), in the form of docs/tls.md. They are presented in TLS handshakes.
//! OpenID4VCI has no such format, so the identifier is that of the media type (RFC 8392 §9.2).

mod codec;
mod describe;
mod hold;
mod read;
pub(crate) mod verify;

pub use self::codec::{
    CoseDraft, CoseMessage, CoseStatus, CoseSubject, CoseVc, KEY_ID_BYTES, MAX_CLAIMS, MAX_TYPES,
    NotCompact, numbers, short_key_id,
};
pub use self::read::{to_bytes, to_text};
use super::entry::Entry;

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read_credential,
    read_presentation: verify::read_presentation,
    is_like: |raw| read::message(raw).is_ok(),
    bare: |_| None,
    too_much: verify::too_much,
    asked_types: None,
    w3c: None,
};

#[cfg(test)]
pub(crate) mod tests;
