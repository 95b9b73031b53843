//! Roles, states and the table of states.

use serde::{Deserialize, Serialize};

use crate::advance::Move::{self, Receives, Sends};

use super::messages::ProofMessage;

/// Who an agent is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofRole {
    /// It wants a proof.
    Verifier,
    /// It proves.
    Prover,
}

/// Where the presenting stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum ProofState {
    /// The prover proposed what to prove.
    #[serde(rename = "proposal-sent/1")]
    ProposalSent,
    /// The verifier has a proposal.
    #[serde(rename = "proposal-received/1")]
    ProposalReceived,
    /// The verifier requested a presentation.
    #[serde(rename = "request-sent/1")]
    RequestSent,
    /// The prover has a request.
    #[serde(rename = "request-received/1")]
    RequestReceived,
    /// The prover sent the presentation.
    #[serde(rename = "presentation-sent/1")]
    PresentationSent,
    /// The verifier has the presentation, and has not judged it.
    #[serde(rename = "presentation-received/1")]
    PresentationReceived,
    /// It is over. Whether the proof holds is in [`ProofExtra::verified`].
    #[serde(rename = "done/1")]
    Done,
    /// It came to nothing.
    #[serde(rename = "abandoned/1")]
    Abandoned,
}

/// What a record has beside its messages.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ProofExtra {
    /// Answers a request with a presentation. It is the agent that does; the machine keeps it.
    pub auto_present: bool,
    /// Judges a presentation without the controller.
    pub auto_verify: bool,
    /// Removes the record when it is done.
    pub auto_remove: bool,
    /// The verifier's judgement.
    pub verified: Option<bool>,
    /// What the verifier noticed.
    pub verified_msgs: Vec<String>,
}

impl ProofState {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::ProposalSent,
        Self::ProposalReceived,
        Self::RequestSent,
        Self::RequestReceived,
        Self::PresentationSent,
        Self::PresentationReceived,
        Self::Done,
        Self::Abandoned,
    ];

    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProposalSent => "proposal-sent",
            Self::ProposalReceived => "proposal-received",
            Self::RequestSent => "request-sent",
            Self::RequestReceived => "request-received",
            Self::PresentationSent => "presentation-sent",
            Self::PresentationReceived => "presentation-received",
            Self::Done => "done",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether nothing follows.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Abandoned)
    }
}

/// The table of states (RFC 0454, "States"). Beside it, RFC 0454 lets either party end the exchange with a problem
/// report earlier ("Problem Report"), so the report may be sent in every state that is not final.
pub(super) fn next(
    role: ProofRole,
    from: Option<ProofState>,
    moved: Move<ProofMessage>,
) -> Option<ProofState> {
    use ProofMessage::{Ack, Presentation, Proposal, Report, Request};
    use ProofRole::{Prover, Verifier};
    use ProofState as S;
    Some(match (role, from, moved) {
        (Verifier, None | Some(S::RequestSent | S::ProposalReceived), Sends(Request)) => {
            S::RequestSent
        }
        (Verifier, None | Some(S::RequestSent), Receives(Proposal)) => S::ProposalReceived,
        (Verifier, Some(S::RequestSent), Receives(Presentation)) => S::PresentationReceived,
        (Verifier, Some(S::PresentationReceived), Sends(Ack)) => S::Done,
        (Prover, None | Some(S::ProposalSent), Receives(Request)) => S::RequestReceived,
        (Prover, None | Some(S::RequestReceived), Sends(Proposal)) => S::ProposalSent,
        (Prover, Some(S::RequestReceived), Sends(Presentation)) => S::PresentationSent,
        (Prover, Some(S::PresentationSent), Receives(Ack)) => S::Done,
        (_, Some(state), Sends(Report) | Receives(Report)) if !state.is_final() => S::Abandoned,
        _ => return None,
    })
}
