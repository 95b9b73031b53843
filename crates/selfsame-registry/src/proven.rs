//! Signatures that were found valid, so that those of a transaction are verified once and not at each check.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::PublicKey;
use selfsame_crypto::hash::sha256_parts;

use crate::refusal::{Refusal, SignatureFault};
use crate::transaction::Signature;

const DOMAIN: &[u8] = b"selfsame/proven/1";
/// Maximum number of signatures in each of two halves: more than the transactions that wait for a network's blocks.
const HALF_MAX: usize = 8_192;

/// The latest valid signatures; clones share them. The validity of a signature depends only on the bytes of its digest,
/// so an answer from here is the one that a verification would give. An invalid signature is never stored.
#[derive(Clone, Default)]
pub(crate) struct ProvenSignatures(Arc<Mutex<Halves>>);

/// A signature that is found in the older half moves to the newer one; when that is full it becomes the older one.
#[derive(Default)]
struct Halves {
    newer: BTreeSet<[u8; 32]>,
    older: BTreeSet<[u8; 32]>,
}

/// The bytes that a signature is over, and their SHA-256.
pub(crate) struct SignedBytes<'a> {
    pub(crate) hash: [u8; 32],
    pub(crate) bytes: &'a [u8],
}

impl ProvenSignatures {
    /// Checks that a signature over these bytes is by this key.
    pub(crate) fn verify(
        &self,
        key: &PublicKey,
        signed: &SignedBytes<'_>,
        signature: &Signature,
    ) -> Result<(), Refusal> {
        let algorithm = key.key_type().default_algorithm();
        // No key type's name is a prefix of another's, and the parts before it have a fixed length.
        let parts = [
            DOMAIN,
            &signed.hash,
            &signature.bytes,
            key.key_type().as_str().as_bytes(),
            key.bytes(),
        ];
        let digest = sha256_parts(&parts);
        if self.halves().has(&digest) {
            return Ok(());
        }
        key.verify(algorithm, signed.bytes, &signature.bytes)
            .map_err(|_| Refusal::Signature(SignatureFault::Bad))?;
        self.halves().add(digest);
        Ok(())
    }

    fn halves(&self) -> MutexGuard<'_, Halves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Halves {
    fn has(&mut self, digest: &[u8; 32]) -> bool {
        let known = self.newer.contains(digest);
        if !known && self.older.remove(digest) {
            self.add(*digest);
            return true;
        }
        known
    }

    fn add(&mut self, digest: [u8; 32]) {
        if self.newer.len() >= HALF_MAX {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(digest);
    }
}

impl fmt::Debug for ProvenSignatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proven")
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::hash::sha256;
    use selfsame_crypto::{KeyType, PrivateKey};

    use super::*;

    fn signed(key: &PrivateKey, bytes: &[u8]) -> Signature {
        Signature::new("key-1", &key.sign(bytes).unwrap()).unwrap()
    }

    #[test]
    fn a_signature_that_was_good_is_good_for_the_same_bytes_and_key_alone() {
        for kind in [KeyType::Ed25519, KeyType::P256] {
            let [key, other] = [(); 2].map(|()| PrivateKey::generate(kind).unwrap());
            let (proven, signature) = (ProvenSignatures::default(), signed(&key, b"yes"));
            let verify = |key: &PrivateKey, bytes: &[u8], signature: &Signature| {
                let hash = sha256(bytes);
                proven.verify(key.public(), &SignedBytes { hash, bytes }, signature)
            };
            for _ in 0..2 {
                assert_eq!(verify(&key, b"yes", &signature), Ok(()));
                let bad = Err(Refusal::Signature(SignatureFault::Bad));
                assert_eq!(verify(&key, b"no", &signature), bad);
                assert_eq!(verify(&other, b"yes", &signature), bad);
                for bit in 0..512 {
                    let mut flipped = signature.clone();
                    flipped.bytes[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(verify(&key, b"yes", &flipped), bad, "bit {bit}");
                }
            }
            assert_eq!(proven.halves().newer.len(), 1);
        }
    }

    #[test]
    fn the_memory_is_bounded_and_what_is_looked_up_stays() {
        let mut halves = Halves::default();
        let digest = |number: usize| sha256(&number.to_be_bytes());
        halves.add(digest(0));
        for number in 1..5 * HALF_MAX {
            halves.add(digest(number));
            if number % (HALF_MAX / 2) == 0 {
                assert!(halves.has(&digest(0)));
            }
            assert!(halves.newer.len() <= HALF_MAX && halves.older.len() <= HALF_MAX);
        }
        assert!(!halves.has(&digest(1)));
    }
}
