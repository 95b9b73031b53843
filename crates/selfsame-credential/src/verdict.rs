//! What a verification concluded, why, and the policy it followed.

use std::collections::BTreeMap;

use std::borrow::Cow;

use selfsame_crypto::{Algorithm, time::UnixTime};
use serde::{Deserialize, Serialize};

/// The conclusion of a verification, with every rule that was looked at.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// The conclusion.
    pub outcome: Outcome,
    /// Every rule, in the order it was judged.
    pub rules: Vec<Rule>,
    /// When the oldest status evidence was fetched, or the registry read; none where neither was looked at.
    pub as_of: Option<UnixTime>,
}

/// The conclusion, in falling order of what a verifier can do with it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every rule that applies holds.
    Valid,
    /// Genuine, but revoked by its issuer.
    Revoked,
    /// Genuine, but for one use, and used.
    Spent,
    /// Genuine, but suspended by its issuer.
    Suspended,
    /// Genuine, but its time is over.
    Expired,
    /// Genuine, but its time has not come.
    NotYetValid,
    /// Genuine, but its issuer is not among those the policy trusts.
    Untrusted,
    /// Not judged to the end: evidence is missing.
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

/// One rule, its result, and the paragraph it rests on.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Rule {
    /// The rule's name, in snake case.
    pub name: Cow<'static, str>,
    /// Whether it holds; none where it does not apply or could not be judged.
    pub passed: Option<bool>,
    /// What was seen, without any claim's value.
    pub detail: String,
    /// The specification's paragraph.
    pub paragraph: Cow<'static, str>,
}

/// What a verifier asks of a credential beyond its being genuine.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Whose credentials count.
    pub trusted_issuers: Trust,
    /// Which types of credentials an issuer may issue, by its identifier; whoever is not named here may issue any.
    pub issuer_types: BTreeMap<String, Vec<String>>,
    /// Roots for issuers' certificate chains, as DER.
    pub trust_anchors: Vec<Vec<u8>>,
    /// How old, in seconds, status evidence may be.
    pub max_status_age: Option<u64>,
    /// How long ago, in seconds, a status list may have been signed; none for any time that the list itself allows.
    pub max_status_signed_age: Option<u64>,
    /// As of how long ago, in seconds, an issuer's DID document may be known; none for any time.
    pub max_keys_age: Option<u64>,
    /// Whether a credential without a status is refused.
    pub require_status: bool,
    /// How far, in seconds, clocks may differ.
    pub leeway: u64,
    /// Whether an SD-JWT VC may be signed by a key from its issuer's DID document (a profile of our own).
    pub accept_did_issuers: bool,
    /// The signature algorithms that are accepted; none for every one that can be verified at all.
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

/// Whose credentials count.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trust {
    /// Anyone's; the verdict then speaks of the credential alone.
    Any,
    /// Those of these issuers (DIDs or https URLs), and of nobody else.
    Listed(Vec<String>),
}

impl Default for Trust {
    /// Nobody is trusted until somebody is named.
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}
