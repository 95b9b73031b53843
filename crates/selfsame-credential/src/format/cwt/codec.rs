//! The one encoding of a compact credential: COSE_Sign1 over a CWT, in deterministic CBOR (docs/tls.md).

mod content;
mod sign1;
#[cfg(test)]
mod tests;

pub use content::{BASE_TYPE, CoseStatus, CoseSubject, CoseVc, MAX_CLAIMS, MAX_TYPES};
pub use sign1::{CoseDraft, CoseMessage, KEY_ID_BYTES, NotCompact, numbers, short_key_id};
