//! A log that is hosted beside a did:web, whose entries each commit to the key of the next one.

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, PrivateKey, PublicKey};
use selfsame_did::{Did, Document, Representation};
use serde::{Deserialize, Serialize};

use crate::log::Log;
use crate::parallel::{draft, with_web};
use crate::write::{Next, ParameterChange, UnsignedEntry, WriteError, commitment, create, update};

/// The log of one DID.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HostedLog {
    /// The DID.
    pub did: Did,
    /// The text of the log.
    pub text: String,
    /// The key that signs the next entry.
    pub next: KeyHandle,
}

impl HostedLog {
    /// A log whose first document is that of this did:web under the new DID. The first key signs the first entry and
    /// nothing else.
    ///
    /// # Errors
    /// The key can't sign, or the DID would be malformed.
    pub fn begin(
        web: &Document,
        first: &PrivateKey,
        next: &PublicKey,
        now: UnixTime,
    ) -> Result<Self, WriteError> {
        let change = committing(first.public(), Some(next));
        let entry = create(&draft(web), change, first.public(), now)?;
        let signature = first.sign(entry.bytes());
        let signature = signature.map_err(|_| WriteError::Unauthorised)?;
        let begun = Self {
            did: entry.did.clone(),
            text: String::new(),
            next: KeyHandle::of(next),
        };
        Ok(begun.with(entry, &signature, KeyHandle::of(next)))
    }

    /// The next entry, with this document; without a next key, the DID ends with it.
    ///
    /// # Errors
    /// The log has ended, or the signer is not the key to which its last entry committed.
    pub fn entry(
        &self,
        document: &Document,
        signer: &PublicKey,
        next: Option<&PublicKey>,
        now: UnixTime,
    ) -> Result<UnsignedEntry, WriteError> {
        let empty = Log::of(&self.did).map_err(|_| WriteError::Ended)?;
        let reading = empty.read(self.text.as_bytes(), now);
        let next = Next {
            state: &with_web(document.clone()).to_value(Representation::Did),
            change: ParameterChange {
                deactivated: next.is_none().then_some(true),
                ..committing(signer, next)
            },
        };
        update(reading.log(), next, signer, now)
    }

    /// The log with this entry and its signature.
    #[must_use]
    pub fn with(mut self, entry: UnsignedEntry, signature: &[u8], next: KeyHandle) -> Self {
        // What is written is JSON, and so UTF-8.
        let line = entry.signed(signature);
        self.text.push_str(&String::from_utf8_lossy(&line));
        Self { next, ..self }
    }
}

fn committing(key: &PublicKey, next: Option<&PublicKey>) -> ParameterChange {
    ParameterChange {
        update_keys: Some(vec![key.to_multikey()]),
        next_key_hashes: Some(next.into_iter().map(commitment).collect()),
        ..ParameterChange::default()
    }
}
