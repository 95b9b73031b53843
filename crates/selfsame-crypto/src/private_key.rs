//! Private keys for signing: Ed25519, P-256 and RSA. They are never displayed, and aws-lc wipes them when they are dropped.

use std::fmt;

use aws_lc_rs::rsa::KeyPair as RsaKeyPair;
use aws_lc_rs::signature::{EcdsaKeyPair, Ed25519KeyPair};

use crate::algorithm::{Algorithm, KeyType};
use crate::error::KeyError;
use crate::public_key::PublicKey;
use crate::secret::Secret;
use crate::{ed25519, p256, rsa};

/// A private key with its public key.
pub struct PrivateKey {
    pair: Pair,
    public: PublicKey,
}

enum Pair {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl PrivateKey {
    /// Reads PKCS#8 (RFC 5958), as [`PrivateKey::to_pkcs8`] writes it. RSA keys are for
    /// [`PrivateKey::from_rsa_pkcs8`]: what is signed with this key may be of a kind that has no RSA.
    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, KeyError> {
        match ed25519::from_pkcs8(pkcs8) {
            Ok(pair) => Self::ed25519(pair),
            Err(_) => p256::from_pkcs8(pkcs8).and_then(Self::p256),
        }
    }

    /// Reads the PKCS#8 of an RSA key of 2048 to 8192 bits.
    ///
    /// # Errors
    /// `Malformed` or `Weak`.
    pub fn from_rsa_pkcs8(pkcs8: &[u8]) -> Result<Self, KeyError> {
        rsa::from_pkcs8(pkcs8).and_then(Self::rsa)
    }

    /// The key as PKCS#8. Seal it before you store or send it.
    pub fn to_pkcs8(&self) -> Result<Secret, KeyError> {
        let der = match &self.pair {
            Pair::Ed25519(pair) => pair.to_pkcs8v1(),
            Pair::P256(pair) => pair.to_pkcs8v1(),
            Pair::Rsa(pair) => return rsa::to_pkcs8(pair),
        };
        der.map(|der| Secret::new(der.as_ref().to_vec()))
            .map_err(|_| KeyError::Backend)
    }

    /// Signs with [`PrivateKey::algorithm`]. ECDSA signatures are r ‖ s as JOSE requires.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.sign_with(self.algorithm(), message)
    }

    /// Signs with one of the algorithms of the key's type. An RSA signature takes about a millisecond.
    ///
    /// # Errors
    /// `Unsupported` for an algorithm of another key type.
    pub fn sign_with(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        if algorithm.key_type() != self.public.key_type() {
            return Err(KeyError::Unsupported);
        }
        match &self.pair {
            Pair::Ed25519(pair) => pair
                .try_sign(message)
                .map(|s| s.as_ref().to_vec())
                .map_err(|_| KeyError::Backend),
            Pair::P256(pair) => p256::sign(pair, message),
            Pair::Rsa(pair) => rsa::sign(pair, algorithm, message),
        }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The algorithm of its signatures where none is named.
    pub fn algorithm(&self) -> Algorithm {
        self.public.key_type().default_algorithm()
    }

    /// The pair, if it is of Ed25519.
    pub(crate) fn ed25519_pair(&self) -> Option<&Ed25519KeyPair> {
        match &self.pair {
            Pair::Ed25519(pair) => Some(pair),
            Pair::P256(_) | Pair::Rsa(_) => None,
        }
    }

    pub(crate) fn ed25519(pair: Ed25519KeyPair) -> Result<Self, KeyError> {
        let public = PublicKey::from_raw(KeyType::Ed25519, ed25519::public_bytes(&pair))?;
        Ok(Self {
            pair: Pair::Ed25519(pair),
            public,
        })
    }

    pub(crate) fn rsa(pair: RsaKeyPair) -> Result<Self, KeyError> {
        let public = PublicKey::from_raw(KeyType::Rsa, rsa::public_bytes(&pair))?;
        Ok(Self {
            pair: Pair::Rsa(pair),
            public,
        })
    }

    pub(crate) fn p256(pair: EcdsaKeyPair) -> Result<Self, KeyError> {
        let public = PublicKey::from_raw(KeyType::P256, p256::public_bytes(&pair))?;
        Ok(Self {
            pair: Pair::P256(pair),
            public,
        })
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey(… of {:?})", self.public)
    }
}
