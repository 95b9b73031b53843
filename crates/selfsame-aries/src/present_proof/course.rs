//! The protocol of presenting a proof, as the exchange takes it.

use selfsame_didcomm::message::Semver;

use crate::advance::Move::{self, Receives, Sends};
use crate::exchange::{Course, Exchange, MessageEntry};

use super::messages::{self, ProofMessage};
use super::state::{ProofExtra, ProofRole, ProofState, next};

/// The protocol `present-proof`.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentProof;

/// Whether the verifier will acknowledge the presentation: as its request says in version 2 (RFC 0454,
/// `will_confirm`), always in version 1.
pub(super) fn is_confirmed(record: &Exchange<PresentProof>) -> bool {
    let request = record.message(ProofMessage::Request);
    let will_confirm = request.and_then(|request| request.will_confirm);
    record.version().major < 2 || will_confirm == Some(true)
}
impl Course for PresentProof {
    type Role = ProofRole;
    type State = ProofState;
    type Kind = ProofMessage;
    type Extra = ProofExtra;

    const PROTOCOL: &'static str = "present-proof";
    const VERSIONS: &'static [Semver] = &[Semver::new(2, 0), Semver::new(1, 0)];
    const MESSAGES: &'static [MessageEntry<ProofMessage>] = messages::ALL;
    const ACK: ProofMessage = ProofMessage::Ack;
    const REPORT: ProofMessage = ProofMessage::Report;

    fn next(
        role: ProofRole,
        from: Option<ProofState>,
        moved: Move<ProofMessage>,
    ) -> Option<ProofState> {
        next(role, from, moved)
    }

    fn role(moved: Move<ProofMessage>) -> Option<ProofRole> {
        match moved {
            Sends(ProofMessage::Request) | Receives(ProofMessage::Proposal) => {
                Some(ProofRole::Verifier)
            }
            Receives(ProofMessage::Request) | Sends(ProofMessage::Proposal) => {
                Some(ProofRole::Prover)
            }
            _ => None,
        }
    }

    fn name(state: ProofState) -> &'static str {
        state.name()
    }

    /// RFC 0454, "States": without an acknowledgement to wait for, the prover is done.
    fn settled(record: &Exchange<Self>, moved: Move<ProofMessage>, to: ProofState) -> ProofState {
        match moved {
            Sends(ProofMessage::Presentation) if !is_confirmed(record) => ProofState::Done,
            _ => to,
        }
    }
}
