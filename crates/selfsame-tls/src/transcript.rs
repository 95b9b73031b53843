//! The transcript (RFC 8446 §4.4.1): all handshake messages, hashed once the hash algorithm is known.

use std::fmt;

use crate::codec::MESSAGE_HASH;
use crate::provider::{Cipher, HashContext, HashOutput};

/// The messages so far, before the hash algorithm is known.
#[derive(Debug, Default)]
pub(crate) struct Unhashed(Vec<u8>);

impl Unhashed {
    pub(crate) fn add(&mut self, message: &[u8]) {
        self.0.extend_from_slice(message);
    }

    pub(crate) fn start(self, cipher: Cipher) -> Transcript {
        let mut context = cipher.start_hash();
        context.update(&self.0);
        Transcript { context, cipher }
    }
}

/// The messages so far, hashed.
pub(crate) struct Transcript {
    context: Box<dyn HashContext>,
    cipher: Cipher,
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transcript")
    }
}

impl Transcript {
    pub(crate) fn add(&mut self, message: &[u8]) {
        self.context.update(message);
    }

    pub(crate) fn hash(&self) -> HashOutput {
        self.context.fork_finish()
    }

    /// The hash with `more` appended.
    pub(crate) fn hash_with(&self, more: &[u8]) -> HashOutput {
        let mut context = self.context.fork();
        context.update(more);
        context.finish()
    }

    /// Replaces the first hello by its hash, before a HelloRetryRequest is added.
    pub(crate) fn retry(&mut self) {
        let hello = self.hash();
        self.context = self.cipher.start_hash();
        let length = u8::try_from(hello.as_ref().len()).unwrap_or(u8::MAX);
        self.context.update(&[MESSAGE_HASH, 0, 0, length]);
        self.context.update(hello.as_ref());
    }
}
