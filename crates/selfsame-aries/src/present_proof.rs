//! Presenting a proof: version 2.0 (RFC 0454) and 1.0 (RFC 0037), one machine with two vocabularies.

mod course;
mod messages;
mod state;
mod step;

use crate::exchange::{Exchange, Speech};

pub use course::PresentProof;
pub use messages::{PREVIEW, ProofMessage};
pub use state::{ProofExtra, ProofRole, ProofState};
pub use step::{ProofInput, step};

/// The presenting of a proof.
pub type PresentationExchange = Exchange<PresentProof>;
/// A message of the protocol.
pub type ProofSpeech = Speech<PresentProof>;
