//! New keys and seeds, drawn from the system's randomness.

use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use aws_lc_rs::signature::Ed25519KeyPair;

use crate::algorithm::KeyType;
use crate::error::KeyError;
use crate::private_key::PrivateKey;
use crate::{p256, rsa};

impl PrivateKey {
    /// Generates a key pair. Ed25519 and P-256 only; the other key types are used for verification alone, but for RSA,
    /// which [`PrivateKey::generate_rsa`] makes.
    pub fn generate(key_type: KeyType) -> Result<Self, KeyError> {
        match key_type {
            KeyType::Ed25519 => Ed25519KeyPair::generate()
                .map_err(|_| KeyError::Backend)
                .and_then(Self::ed25519),
            KeyType::P256 => p256::generate().and_then(Self::p256),
            _ => Err(KeyError::Unsupported),
        }
    }

    /// Generates an RSA key pair of 2048 bits, for tokens that others can verify with RSA alone. It takes about a tenth
    /// of a second.
    ///
    /// # Errors
    /// `Backend` if the cryptographic library fails.
    pub fn generate_rsa() -> Result<Self, KeyError> {
        rsa::generate().and_then(Self::rsa)
    }
}

/// 256 fresh random bits: the seed of a `Ctx`, a master key, a token. Aborts the process if the system has no
/// randomness to give, since anything it did next would be guessable.
pub fn random_seed() -> [u8; 32] {
    random()
}

/// Fresh random bytes. Aborts the process if the system has no randomness to give.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0_u8; N];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        std::process::abort();
    }
    bytes
}
