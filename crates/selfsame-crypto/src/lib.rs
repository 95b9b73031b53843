//! Keys, signatures, JOSE, sealing, strict JSON, time and randomness: the base of all other crates.
//!
//! Owns: key types and their encodings (JWK, multikey, SPKI, PKCS#8), JWS in compact form, key agreement and JWE, the
//! boxes of NaCl, X.509 chains, sealing and password hashing, frames and sums of elements, secret types, strict JSON,
//! `Ctx` and `UnixTime`.
//! Does not own: what a token means (selfsame-credential), where keys are kept (selfsame-store), and any input, output
//! or clock. Only [`generate`], [`password`] and, inside aws-lc, ECDSA and RSA-PSS signing draw randomness from the system;
//! everything else is a function of its arguments.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod agreement;
mod algorithm;
pub mod ctx;
mod der;
mod ec;
mod ed25519;
pub mod encoding;
mod error;
pub mod frame;
pub mod generate;
pub mod hash;
mod hkdf;
pub mod json;
pub mod jwe;
mod jwk;
pub mod jws;
mod key_handle;
mod ml_dsa;
mod p256;
mod p384;
pub mod password;
mod private_key;
mod public_key;
mod rsa;
pub mod seal;
mod secp256k1;
mod secret;
pub mod time;
mod wide;
pub mod x509;

pub use algorithm::{Algorithm, KeyType, UnsupportedAlgorithm};
pub use error::{KeyError, SignatureError};
pub use jwk::{Jwk, JwkParams};
pub use key_handle::KeyHandle;
pub use private_key::PrivateKey;
pub use public_key::PublicKey;
pub use secret::{Secret, SecretString};
