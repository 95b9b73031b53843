//! The cryptosuites: how a document is put into canonical form, hashed and signed.

use selfsame_crypto::hash::{sha256, sha384};
use selfsame_crypto::{Algorithm, KeyType};

use crate::IntegrityError;

/// A cryptosuite (VC Data Integrity EdDSA Cryptosuites v1.0, ECDSA Cryptosuites v1.0).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cryptosuite {
    /// `eddsa-jcs-2022`: Ed25519 over canonical JSON.
    EddsaJcs2022,
    /// `ecdsa-jcs-2019`: P-256 or P-384 over canonical JSON.
    EcdsaJcs2019,
    /// `eddsa-rdfc-2022`: Ed25519 over a canonical dataset of RDF.
    EddsaRdfc2022,
    /// `ecdsa-rdfc-2019`: P-256 or P-384 over a canonical dataset of RDF.
    EcdsaRdfc2019,
}

/// In which form a document is signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SignedForm {
    /// As JSON (RFC 8785).
    Json,
    /// As a dataset of RDF (RDFC-1.0).
    Dataset,
}

/// How a document is hashed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SuiteDigest {
    Sha256,
    Sha384,
}

impl SuiteDigest {
    pub(crate) fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => sha256(bytes).to_vec(),
            Self::Sha384 => sha384(bytes).to_vec(),
        }
    }
}

impl Cryptosuite {
    /// Every suite.
    pub const ALL: [Self; 4] = [
        Self::EddsaJcs2022,
        Self::EcdsaJcs2019,
        Self::EddsaRdfc2022,
        Self::EcdsaRdfc2019,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EddsaJcs2022 => "eddsa-jcs-2022",
            Self::EcdsaJcs2019 => "ecdsa-jcs-2019",
            Self::EddsaRdfc2022 => "eddsa-rdfc-2022",
            Self::EcdsaRdfc2019 => "ecdsa-rdfc-2019",
        }
    }

    /// The suite of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }

    pub(crate) const fn form(self) -> SignedForm {
        match self {
            Self::EddsaJcs2022 | Self::EcdsaJcs2019 => SignedForm::Json,
            Self::EddsaRdfc2022 | Self::EcdsaRdfc2019 => SignedForm::Dataset,
        }
    }

    /// How documents are hashed and signed by keys of this type.
    ///
    /// # Errors
    /// [`IntegrityError::Unsupported`] if the suite has no such keys.
    pub(crate) fn parts(self, key: KeyType) -> Result<SuiteParts, IntegrityError> {
        let is_eddsa = matches!(self, Self::EddsaJcs2022 | Self::EddsaRdfc2022);
        let (digest, algorithm, length) = match (is_eddsa, key) {
            (true, KeyType::Ed25519) => (SuiteDigest::Sha256, Algorithm::EdDsa, 64),
            (false, KeyType::P256) => (SuiteDigest::Sha256, Algorithm::Es256, 64),
            (false, KeyType::P384) => (SuiteDigest::Sha384, Algorithm::Es384, 96),
            _ => return Err(IntegrityError::Unsupported("a key of another cryptosuite")),
        };
        Ok(SuiteParts {
            digest,
            algorithm,
            signature_length: length,
        })
    }
}

pub(crate) struct SuiteParts {
    pub digest: SuiteDigest,
    pub algorithm: Algorithm,
    pub signature_length: usize,
}
