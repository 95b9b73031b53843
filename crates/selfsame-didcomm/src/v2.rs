//! The envelopes of v2 (DIDComm v2.1, "Message Formats"): encrypted with or without a known sender, signed, or nested.
//!
//! Documents of DIDs come as evidence: they were resolved before. Opening says which one is missing, if one is.

mod addressing;
mod encrypt;
mod open;
mod prior;
mod signed;

use std::collections::BTreeMap;

use selfsame_did::{Did, Document};

pub(crate) use encrypt::Recipients;
pub use encrypt::{Packing, Sealable, SenderKey, encrypt};
pub use open::{Opened, kids, open};
pub use prior::{DidRotation, draft_rotation, verify_rotation};
pub use signed::{SignDraft, SignedMessage};

/// The documents of DIDs that were resolved, each under its own DID.
pub type Documents = BTreeMap<Did, Document>;

/// The maximum length of an envelope in bytes. A message of 2 MiB that is forwarded twice fits.
pub const MAX_BYTES: usize = 6 * 1024 * 1024;

#[cfg(test)]
mod tests;
