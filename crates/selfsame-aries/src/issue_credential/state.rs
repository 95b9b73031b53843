//! Roles, states and the table of states.

use serde::{Deserialize, Serialize};

use crate::advance::Move::{self, Receives, Sends};

use super::messages::IssueMessage;

/// Who an agent is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueRole {
    /// It issues.
    Issuer,
    /// It will hold the credential.
    Holder,
}

/// Where the issuing stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum IssueState {
    /// The holder proposed a credential.
    #[serde(rename = "proposal-sent/1")]
    ProposalSent,
    /// The issuer has a proposal.
    #[serde(rename = "proposal-received/1")]
    ProposalReceived,
    /// The issuer offered a credential.
    #[serde(rename = "offer-sent/1")]
    OfferSent,
    /// The holder has an offer.
    #[serde(rename = "offer-received/1")]
    OfferReceived,
    /// The holder requested the credential.
    #[serde(rename = "request-sent/1")]
    RequestSent,
    /// The issuer has a request.
    #[serde(rename = "request-received/1")]
    RequestReceived,
    /// The issuer sent the credential.
    #[serde(rename = "credential-issued/1")]
    CredentialIssued,
    /// The holder has the credential, and has not stored it.
    #[serde(rename = "credential-received/1")]
    CredentialReceived,
    /// The credential is stored.
    #[serde(rename = "done/1")]
    Done,
    /// The credential was revoked later.
    #[serde(rename = "credential-revoked/1")]
    CredentialRevoked,
    /// It came to nothing.
    #[serde(rename = "abandoned/1")]
    Abandoned,
}

/// How far the agent goes on by itself. It is the agent that does; the machine keeps it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct IssueExtra {
    /// Answers a proposal with an offer.
    pub auto_offer: bool,
    /// Answers a request with the credential.
    pub auto_issue: bool,
    /// Removes the record when it is done.
    pub auto_remove: bool,
}

impl IssueState {
    /// Every state.
    pub const ALL: [Self; 11] = [
        Self::ProposalSent,
        Self::ProposalReceived,
        Self::OfferSent,
        Self::OfferReceived,
        Self::RequestSent,
        Self::RequestReceived,
        Self::CredentialIssued,
        Self::CredentialReceived,
        Self::Done,
        Self::CredentialRevoked,
        Self::Abandoned,
    ];

    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProposalSent => "proposal-sent",
            Self::ProposalReceived => "proposal-received",
            Self::OfferSent => "offer-sent",
            Self::OfferReceived => "offer-received",
            Self::RequestSent => "request-sent",
            Self::RequestReceived => "request-received",
            Self::CredentialIssued => "credential-issued",
            Self::CredentialReceived => "credential-received",
            Self::Done => "done",
            Self::CredentialRevoked => "credential-revoked",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether nothing follows.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::CredentialRevoked | Self::Abandoned)
    }
}

/// The table of states (RFC 0453 and RFC 0036: "States", "Choreography Diagram"). Either side may end an exchange that
/// is under way with a problem report.
pub(super) fn next(
    role: IssueRole,
    from: Option<IssueState>,
    moved: Move<IssueMessage>,
) -> Option<IssueState> {
    use IssueMessage::{Ack, Credential, Offer, Proposal, Report, Request};
    use IssueRole::{Holder, Issuer};
    use IssueState as S;
    Some(match (role, from, moved) {
        (Issuer, None | Some(S::OfferSent), Receives(Proposal)) => S::ProposalReceived,
        (Issuer, None | Some(S::ProposalReceived), Sends(Offer)) => S::OfferSent,
        (Issuer, None | Some(S::OfferSent), Receives(Request)) => S::RequestReceived,
        (Issuer, Some(S::RequestReceived), Sends(Credential)) => S::CredentialIssued,
        (Issuer, Some(S::CredentialIssued), Receives(Ack)) => S::Done,
        (Holder, None | Some(S::OfferReceived), Sends(Proposal)) => S::ProposalSent,
        (Holder, None | Some(S::ProposalSent), Receives(Offer)) => S::OfferReceived,
        (Holder, None | Some(S::OfferReceived), Sends(Request)) => S::RequestSent,
        (Holder, Some(S::RequestSent), Receives(Credential)) => S::CredentialReceived,
        (Holder, Some(S::CredentialReceived), Sends(Ack)) => S::Done,
        (_, Some(state), Sends(Report) | Receives(Report)) if !state.is_final() => S::Abandoned,
        _ => return None,
    })
}
