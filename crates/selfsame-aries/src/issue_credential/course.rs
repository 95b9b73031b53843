//! The protocol of issuing a credential, as the exchange takes it.

use selfsame_didcomm::message::Semver;

use crate::advance::Move::{self, Receives, Sends};
use crate::exchange::{Course, MessageEntry};

use super::messages::{self, IssueMessage};
use super::state::{IssueExtra, IssueRole, IssueState, next};

/// The protocol `issue-credential`.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueCredential;

impl Course for IssueCredential {
    type Role = IssueRole;
    type State = IssueState;
    type Kind = IssueMessage;
    type Extra = IssueExtra;

    const PROTOCOL: &'static str = "issue-credential";
    const VERSIONS: &'static [Semver] = &[Semver::new(2, 0), Semver::new(1, 0)];
    const MESSAGES: &'static [MessageEntry<IssueMessage>] = messages::ALL;
    const ACK: IssueMessage = IssueMessage::Ack;
    const REPORT: IssueMessage = IssueMessage::Report;

    fn next(
        role: IssueRole,
        from: Option<IssueState>,
        moved: Move<IssueMessage>,
    ) -> Option<IssueState> {
        next(role, from, moved)
    }

    fn role(moved: Move<IssueMessage>) -> Option<IssueRole> {
        match moved {
            Sends(IssueMessage::Offer)
            | Receives(IssueMessage::Proposal | IssueMessage::Request) => Some(IssueRole::Issuer),
            Receives(IssueMessage::Offer)
            | Sends(IssueMessage::Proposal | IssueMessage::Request) => Some(IssueRole::Holder),
            _ => None,
        }
    }

    fn name(state: IssueState) -> &'static str {
        state.name()
    }
}
