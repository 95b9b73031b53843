//! The digest algorithms of the mobile security object (ISO/IEC 18013-5 §9.1.2.5).

use selfsame_crypto::hash::{sha256, sha384, sha512};

/// A digest algorithm.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DigestAlgorithm {
    /// SHA-256.
    #[default]
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl DigestAlgorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        }
    }

    /// The algorithm with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// The length of a digest in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The digest of these bytes.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => sha256(bytes).to_vec(),
            Self::Sha384 => sha384(bytes).to_vec(),
            Self::Sha512 => sha512(bytes).to_vec(),
        }
    }
}
