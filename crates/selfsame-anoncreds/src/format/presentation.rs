//! Presentations: a proof, the revealed values, and the identifiers of its credentials.

use selfsame_crypto::json::Limits;
use serde::{Deserialize, Serialize};

use super::limits::MAX_CREDENTIALS;
use super::message::{LARGE, Message};
use super::requested_proof::{CredentialIdentifiers, RequestedProof};
use crate::Error;
use crate::cl::Proof;

/// A presentation (AnonCreds v1.0, "Generate Presentation").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Presentation {
    /// The proof: one part for each credential, and the aggregated part.
    pub proof: Proof,
    /// The answers.
    pub requested_proof: RequestedProof,
    /// The credentials, in the order of the proof's parts.
    pub identifiers: Vec<CredentialIdentifiers>,
}

impl Message for Presentation {
    type Text = String;
    const WHAT: &'static str = "the presentation";
    const LIMITS: Limits = LARGE;

    fn validate(&self) -> Result<(), Error> {
        if self.identifiers.len() > MAX_CREDENTIALS {
            return Err(Error::TooLarge {
                what: "the number of credentials",
                limit: MAX_CREDENTIALS,
            });
        }
        if self.proof.proofs.len() != self.identifiers.len() {
            return Err(Error::Malformed {
                what: Self::WHAT,
                why: "it has not one proof for each credential",
            });
        }
        self.requested_proof.validate(self.identifiers.len())
    }
}
