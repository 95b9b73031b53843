//! The policy of a verification. Its result is a [`Verdict`].

use std::collections::BTreeMap;

use selfsame_crypto::Algorithm;
use selfsame_did::Did;
use url::Url;

pub use selfsame_verdict::{Outcome, Rule, Verdict};

/// A verifier's requirements for a credential, besides its authenticity.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The trusted issuers.
    pub trusted_issuers: Trust,
    /// The types of credentials that an issuer may issue, by its identifier; an issuer without an entry may issue any.
    pub issuer_types: BTreeMap<String, Vec<String>>,
    /// The issuers of which credentials of a type are accepted, by the type; of a type without an entry, all trusted
    /// ones. An entry makes no issuer trusted.
    pub issuers_by_type: BTreeMap<String, Vec<String>>,
    /// Roots for issuers' certificate chains, as DER.
    pub trust_anchors: Vec<Vec<u8>>,
    /// Certificates (DER) of the authorities whose document signers are relied upon (IACA, ISO/IEC 18013-5 §B.1.2).
    pub authorities: Vec<Vec<u8>>,
    /// Maximum age of status evidence, in seconds.
    pub max_status_age: Option<u64>,
    /// Maximum age of a status list's signature, in seconds; `None` for the list's own limit.
    pub max_status_signed_age: Option<u64>,
    /// Maximum age of the evidence for an issuer's DID document, in seconds; `None` for any age.
    pub max_keys_age: Option<u64>,
    /// Whether a credential without a status is refused.
    pub require_status: bool,
    /// Tolerated clock difference, in seconds.
    pub leeway: u64,
    /// Whether an SD-JWT VC may be signed by a key from its issuer's DID document (our own profile).
    pub accept_did_issuers: bool,
    /// Whether an SD-JWT VC is signed by the key of a certificate in its header, and by no other (HAIP 1.0 §6.1.1).
    pub certificates_alone: bool,
    /// The accepted signature algorithms; `None` for every supported one.
    pub algorithms: Option<Vec<Algorithm>>,
}

impl Policy {
    /// Whether signatures made with `algorithm` are accepted.
    pub fn accepts(&self, algorithm: Algorithm) -> bool {
        self.algorithms
            .as_ref()
            .is_none_or(|accepted| accepted.contains(&algorithm))
    }
}

/// The trusted issuers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trust {
    /// Any issuer; the verdict then concerns only the credential.
    Any,
    /// Only these issuers (DIDs or https URLs).
    Listed(Vec<String>),
}

/// Whether a text can name an issuer: a DID, a URL of the web, or the name of a certificate.
#[must_use]
pub fn can_name_issuer(text: &str) -> bool {
    match text.split_once(':') {
        Some(("did", _)) => Did::parse(text).is_ok(),
        Some(("x509_san_dns" | "x509_hash", name)) => !name.is_empty(),
        Some(("http" | "https", _)) => Url::parse(text).is_ok(),
        _ => false,
    }
}

impl Default for Trust {
    /// By default no issuer is trusted.
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}
