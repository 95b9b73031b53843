//! The result of a verification, its reasons, and the policy.

use std::collections::BTreeMap;

use std::borrow::Cow;

use selfsame_crypto::{Algorithm, time::UnixTime};
use serde::{Deserialize, Serialize};

/// The result of a verification, with every rule that was checked.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// Every rule, in the order in which it was checked.
    pub rules: Vec<Rule>,
    /// When the oldest status evidence was fetched, or the registry was read; `None` if neither was needed.
    pub as_of: Option<UnixTime>,
}

/// The outcome, from most to least useful to a verifier.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every rule that applies holds.
    Valid,
    /// Genuine, but revoked by its issuer.
    Revoked,
    /// Genuine, but a single-use credential that is used up.
    Spent,
    /// Genuine, but suspended by its issuer.
    Suspended,
    /// Genuine, but expired.
    Expired,
    /// Genuine, but not yet valid.
    NotYetValid,
    /// Genuine, but its issuer is not trusted by the policy.
    Untrusted,
    /// Verification is incomplete: evidence is missing.
    Unverifiable,
    /// Forged, tampered with, malformed, or presented wrongly.
    Invalid,
}

impl Outcome {
    /// The outcome's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Revoked => "revoked",
            Self::Spent => "spent",
            Self::Suspended => "suspended",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::Untrusted => "untrusted",
            Self::Unverifiable => "unverifiable",
            Self::Invalid => "invalid",
        }
    }
}

/// One rule, its result, and its paragraph in the specification.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Rule {
    /// The rule's name, in snake case.
    pub name: Cow<'static, str>,
    /// Whether it holds; `None` if it does not apply or could not be checked.
    pub passed: Option<bool>,
    /// A detail, without any claim's value.
    pub detail: String,
    /// The specification's paragraph.
    pub paragraph: Cow<'static, str>,
}

/// A verifier's requirements for a credential, besides its authenticity.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The trusted issuers.
    pub trusted_issuers: Trust,
    /// The types of credentials that an issuer may issue, by its identifier; an issuer without an entry may issue any.
    pub issuer_types: BTreeMap<String, Vec<String>>,
    /// Roots for issuers' certificate chains, as DER.
    pub trust_anchors: Vec<Vec<u8>>,
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

impl Default for Trust {
    /// By default no issuer is trusted.
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}
