//! The rules that credentials of several formats share, and the inputs of a verification.

pub(crate) mod holder;
pub(crate) mod issuer;
pub(crate) mod single_use;
pub(crate) mod status;

use selfsame_crypto::{Algorithm, PublicKey, jws, time::UnixTime};
use selfsame_mdoc::transcript::SessionTranscript;
use selfsame_verdict::{Checklist, Law};

use crate::{
    evidence::Evidence,
    issuer_key::Roots,
    verdict::{Policy, Verdict},
};

/// The values that bind a presentation to one verifier and one request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binding {
    /// The verifier; in OpenID4VP its client identifier with the prefix.
    pub audience: String,
    /// The verifier's nonce.
    pub nonce: String,
    /// What an mdoc is bound to in their place (OpenID4VP 1.0 §B.2.6); `None` where no mdoc can be presented.
    pub session: Option<SessionTranscript>,
}

/// A received text that can't be read, and the rule that it breaks.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{detail} ({})", law.paragraph)]
pub struct Malformed {
    law: &'static Law,
    detail: String,
}

/// What is known about a credential's issuer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum IssuerStanding {
    /// The issuer signed it, and the policy trusts the issuer: URLs that it names may be fetched.
    ReliedUpon,
    /// Anything less.
    Stranger,
}

/// The rules for the key and the signature of a token.
pub(crate) struct SignatureLaws {
    pub key: &'static Law,
    pub signature: &'static Law,
}

/// A token whose signature can be checked: a JWS, a message of COSE, or a document with its proof.
pub(crate) trait SignedToken {
    /// The algorithm that it states.
    fn algorithm(&self) -> Algorithm;
    /// Whether this key signed it.
    fn is_signed(&self, key: &PublicKey, evidence: &Evidence) -> bool;
    /// The rules for its key and its signature.
    fn laws(&self) -> SignatureLaws {
        SignatureLaws {
            key: &issuer::ISSUER_KEY,
            signature: &issuer::ISSUER_SIGNATURE,
        }
    }
}

impl SignedToken for jws::Compact {
    fn algorithm(&self) -> Algorithm {
        self.header.alg
    }

    fn is_signed(&self, key: &PublicKey, evidence: &Evidence) -> bool {
        evidence.is_signed(self, key)
    }
}

/// All inputs of a verification.
#[derive(Clone, Copy)]
pub(crate) struct Court<'a> {
    pub policy: &'a Policy,
    pub evidence: &'a Evidence,
    pub now: UnixTime,
}

impl<'a> Court<'a> {
    pub fn roots(&self) -> Roots<'a> {
        Roots {
            anchors: &self.policy.trust_anchors,
            now: self.now,
        }
    }
}

impl Malformed {
    /// The broken rule, and the reason.
    pub(crate) fn new(law: &'static Law, detail: &dyn std::error::Error) -> Self {
        Self {
            law,
            detail: detail.to_string(),
        }
    }

    /// The verdict for this.
    pub fn verdict(&self) -> Verdict {
        let mut list = Checklist::new(&[]);
        list.fails(self.law, self.detail.as_str());
        list.conclude(None::<()>).0
    }
}
