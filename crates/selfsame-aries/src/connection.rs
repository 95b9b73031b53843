//! The record of a connection, which connections 1.0 and DID exchange share.

use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::advance::{Advance, Advanced, Move, Notice, Problem, ProblemKind, Recipient};
use crate::dialogue::Dialogue;
use crate::key::VerKey;
use crate::notification::ProblemReport;
use crate::wire::{Incoming, Vocabulary};

/// The name of the protocol of a connection over DIDComm v2, which has no handshake. No message on the wire has it.
pub const V2: &str = "didcomm";
/// How many states a record remembers to have been in.
const HISTORY_MAX: usize = 16;

/// A connection, from its invitation on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ConnectionRecord {
    /// Its state.
    pub state: ConnectionState,
    /// Whether this agent invited or was invited.
    pub role: ConnectionRole,
    /// The thread. Until a request begins one, its identifier is that of the invitation.
    pub dialogue: Dialogue,
    /// The identifier of the invitation; for an implicit one, the DID or the DID URL of its service.
    pub invitation_id: String,
    /// The key of the invitation, which signs the response; `None` if a DID was invited by and it was not resolved.
    pub invitation_key: Option<VerKey>,
    /// The DID that the invitation names, if it names one.
    pub invitation_did: Option<String>,
    /// How often the invitation may be used.
    pub invitation_mode: InvitationMode,
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether the agent goes on by itself.
    pub accept: Accepting,
    /// How the peer calls itself. It is untrusted text.
    pub their_label: Option<String>,
    /// This agent's DID in the connection.
    pub ours: Option<DidWithDoc>,
    /// The peer's DID.
    pub theirs: Option<DidWithDoc>,
    /// The states that it has been in, the oldest first; of many, the newest.
    #[serde(default)]
    pub history: Vec<PassedState>,
}

/// A state that a connection has been in, and how many seconds after the record was made it came to it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PassedState(ConnectionState, u64);

impl PassedState {
    /// The state.
    pub fn state(&self) -> ConnectionState {
        self.0
    }

    /// How many seconds after the record was made.
    pub fn after(&self) -> u64 {
        self.1
    }
}

/// One side of a connection: a DID, with its document if others can't resolve it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct DidWithDoc {
    /// The DID. Older agents leave out `did:sov:` (RFC 0793).
    #[serde(rename = "DID", alias = "did")]
    pub did: String,
    /// The document as it was sent. What it says is for selfsame-did to read.
    #[serde(
        rename = "DIDDoc",
        alias = "did_doc",
        skip_serializing_if = "Option::is_none"
    )]
    pub doc: Option<Value>,
}

/// The state of a connection, by the names of RFC 0160 as ACA-Py stores them.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum ConnectionState {
    /// There is an invitation.
    #[serde(rename = "invitation/1")]
    Invitation,
    /// The invited side sent its request.
    #[serde(rename = "request/1")]
    Request,
    /// The inviting side sent its response.
    #[serde(rename = "response/1")]
    Response,
    /// Both sides know each other.
    #[serde(rename = "active/1")]
    Completed,
    /// It came to nothing.
    #[serde(rename = "error/1")]
    Abandoned,
}

/// Who this agent is in a connection.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionRole {
    /// It invited: the inviter of RFC 0160, the responder of RFC 0023.
    Inviter,
    /// It was invited: the invitee of RFC 0160, the requester of RFC 0023.
    Invitee,
}

/// How often an invitation may be used.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InvitationMode {
    /// Once: the connection is the invitation's record.
    #[default]
    Once,
    /// Any number of times: each use begins a record of its own.
    Multi,
    /// Never: both sides were told of each other.
    Static,
}

/// Whether the agent goes on by itself, or waits for its controller.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Accepting {
    /// It waits.
    #[default]
    Manual,
    /// It goes on.
    Auto,
}

/// A message that belongs to the making of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Handshake {
    /// The invitation, outside any connection.
    Invitation,
    /// The request.
    Request,
    /// The response.
    Response,
    /// What tells the inviting side that its response came: `complete` (RFC 0023), or any message (RFC 0160 §3).
    Complete,
    /// A problem report.
    Report,
}

impl ConnectionState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::Invitation,
        Self::Request,
        Self::Response,
        Self::Completed,
        Self::Abandoned,
    ];

    /// The state's name in RFC 0160.
    pub const fn rfc160(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Request => "request",
            Self::Response => "response",
            Self::Completed => "active",
            Self::Abandoned => "error",
        }
    }

    /// The state's name in RFC 0023, which tells who sent the last message.
    pub const fn rfc23(self, role: ConnectionRole) -> &'static str {
        match (self, role) {
            (Self::Invitation, ConnectionRole::Inviter) => "invitation-sent",
            (Self::Invitation, ConnectionRole::Invitee) => "invitation-received",
            (Self::Request, ConnectionRole::Inviter) => "request-received",
            (Self::Request, ConnectionRole::Invitee) => "request-sent",
            (Self::Response, ConnectionRole::Inviter) => "response-sent",
            (Self::Response, ConnectionRole::Invitee) => "response-received",
            (Self::Completed, _) => "completed",
            (Self::Abandoned, _) => "abandoned",
        }
    }

    /// The state after a problem report: abandoned, or the one before the message that may be sent again (RFC 0023,
    /// "State Machine Tables").
    pub(crate) const fn after_report(self, may_retry: bool) -> Self {
        match (self, may_retry) {
            (Self::Response, true) => Self::Request,
            (Self::Request, true) => Self::Invitation,
            _ => Self::Abandoned,
        }
    }

    /// Whether both sides know that they have the connection.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Completed)
    }

    /// Whether the connection came to nothing.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Abandoned)
    }

    /// Whether the connection carries messages of other protocols: both sides have told their DIDs.
    pub const fn is_ready(self) -> bool {
        matches!(self, Self::Response | Self::Completed)
    }
}

/// What a connection begins with: an invitation of either kind, made or received.
#[derive(Clone, Debug, PartialEq)]
pub struct InvitationTerms {
    /// Whether this agent made it or received it.
    pub role: ConnectionRole,
    /// Its identifier; for an implicit one, the DID or the DID URL of its service.
    pub id: String,
    /// The key that signs the response; `None` while the DID is not resolved.
    pub key: Option<VerKey>,
    /// The DID that it names.
    pub did: Option<String>,
    /// How often it may be used.
    pub mode: InvitationMode,
    /// How the inviter calls itself.
    pub label: Option<String>,
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether the agent goes on by itself.
    pub accept: Accepting,
}

/// The refusal of what the peer sent.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HandshakeRejection {
    /// Whether the peer may send the same again, because this side could not process it.
    pub may_retry: bool,
    /// What is wrong, for the people of the peer.
    pub explain: Option<String>,
}

/// A table of states.
pub type StateTable =
    fn(ConnectionRole, Option<ConnectionState>, Move<Handshake>) -> Option<ConnectionState>;

impl HandshakeRejection {
    /// The code of a request that is refused.
    pub const REQUEST: &str = "request_not_accepted";
    /// The code of a response that is refused.
    pub const RESPONSE: &str = "response_not_accepted";
    /// What the code of an error ends with after which the same message may be sent again.
    const RETRY: &str = "_processing_error";

    /// The report (RFC 0160 and RFC 0023, "Errors"): the inviter refuses a request, the invitee a response.
    pub fn report(&self, role: ConnectionRole) -> ProblemReport {
        let code = match (role, self.may_retry) {
            (ConnectionRole::Inviter, false) => Self::REQUEST,
            (ConnectionRole::Inviter, true) => "request_processing_error",
            (ConnectionRole::Invitee, false) => Self::RESPONSE,
            (ConnectionRole::Invitee, true) => "response_processing_error",
        };
        ProblemReport::new(
            code,
            self.explain.as_deref().unwrap_or("It was not accepted."),
        )
    }
}

impl ConnectionRecord {
    /// A connection that begins with an invitation. `kind` is a type of the protocol that will make it.
    pub fn begin(terms: InvitationTerms, kind: MessageType, ctx: &Ctx) -> Advance<Self> {
        let is_invited = terms.role == ConnectionRole::Invitee;
        let record = Self {
            state: ConnectionState::Invitation,
            role: terms.role,
            dialogue: Dialogue::of_invitation(&terms.id, kind, ctx),
            invitation_id: terms.id,
            invitation_key: terms.key,
            invitation_did: terms.did,
            invitation_mode: terms.mode,
            alias: terms.alias,
            accept: terms.accept,
            their_label: terms.label.filter(|_| is_invited),
            ours: None,
            theirs: None,
            history: Vec::new(),
        };
        record.moved(ConnectionState::Invitation)
    }

    /// The record in this state, with what to tell.
    pub fn moved(mut self, state: ConnectionState) -> Advance<Self> {
        let notice = Notice::State(state.rfc160());
        let (created, updated) = (self.dialogue.created_at, self.dialogue.updated_at);
        if self.history.len() >= HISTORY_MAX {
            self.history.remove(0);
        }
        let after = updated.0.saturating_sub(created.0);
        self.history.push(PassedState(state, after));
        Advance::of(Self { state, ..self }).tell(notice)
    }

    /// The record after any message of the peer that shows that it has the connection.
    ///
    /// # Errors
    /// If the state does not allow it.
    pub fn hear(&self, table: StateTable, ctx: &Ctx) -> Advanced<Self> {
        let moved = Move::Receives(Handshake::Complete);
        match table(self.role, Some(self.state), moved) {
            Some(to) if to == self.state => Ok(Advance::repeated(self.clone())),
            Some(to) => {
                let mut next = self.clone();
                next.dialogue.updated_at = ctx.now();
                Ok(next.moved(to))
            }
            None => Err(Problem::wrong_state()),
        }
    }

    /// A request that the table allows. If many may use the invitation, a record begins beside it.
    ///
    /// # Errors
    /// None: what the table does not allow is for [`Self::requested_again`].
    pub fn requested<M>(
        &self,
        message: &Incoming<M>,
        ctx: &Ctx,
        take: impl FnOnce(&mut Self),
    ) -> Advanced<Self> {
        let mut next = self.clone();
        next.dialogue.go_below(&self.invitation_id, message, ctx);
        take(&mut next);
        if self.invitation_mode != InvitationMode::Multi {
            return Ok(next.moved(ConnectionState::Request));
        }
        next.dialogue.created_at = ctx.now();
        next.history.clear();
        next.invitation_mode = InvitationMode::Once;
        let mut advance = next.moved(ConnectionState::Request);
        advance.beside = Some(std::mem::replace(&mut advance.record, self.clone()));
        Ok(advance)
    }

    /// A request that the table does not allow: the same one again, or one of somebody else.
    ///
    /// # Errors
    /// Always, unless it is the same request again.
    pub fn requested_again<M>(&self, message: &Incoming<M>, refusal: Message) -> Advanced<Self> {
        let is_inviter = self.role == ConnectionRole::Inviter;
        if !is_inviter || self.state == ConnectionState::Abandoned {
            return Err(Problem::wrong_state());
        }
        if self.dialogue.thread_id == message.thread_id {
            return Ok(Advance::repeated(self.clone()));
        }
        let explain = "the invitation was used already";
        let problem = Problem::new(ProblemKind::Used, HandshakeRejection::REQUEST, explain);
        Err(problem.reported(Recipient::Sender, refusal))
    }

    /// An act that the table does not allow, because it was done already.
    ///
    /// # Errors
    /// If it was not done already.
    pub fn again(
        &self,
        state: ConnectionState,
        role: ConnectionRole,
        party: &DidWithDoc,
    ) -> Advanced<Self> {
        match self.state == state && self.role == role && self.ours.as_ref() == Some(party) {
            true => Ok(Advance::repeated(self.clone())),
            false => Err(Problem::wrong_state()),
        }
    }

    /// A confirmation that the table does not allow, because it was sent already.
    pub(crate) fn confirmed_again(&self) -> Advanced<Self> {
        let is_sent =
            self.state == ConnectionState::Completed && self.role == ConnectionRole::Invitee;
        match is_sent {
            true => Ok(Advance::repeated(self.clone())),
            false => Err(Problem::wrong_state()),
        }
    }

    /// The peer's report. After one that asks for the same message again, the state is the one before that message.
    ///
    /// # Errors
    /// If it belongs to another thread.
    pub fn take_report<M>(
        &self,
        message: &Incoming<M>,
        report: &ProblemReport,
        ctx: &Ctx,
    ) -> Advanced<Self> {
        let mut next = self.clone();
        next.dialogue.hear(message, ctx)?;
        next.dialogue.error_msg = Some(report.line());
        let told = Notice::Reported(report.clone());
        let code = report.code.as_deref().unwrap_or_default();
        let to = self
            .state
            .after_report(code.ends_with(HandshakeRejection::RETRY));
        Ok(next.moved(to).tell(told))
    }

    /// Refuses what the peer sent.
    ///
    /// # Errors
    /// If the state does not allow it.
    pub fn reject<M: Vocabulary>(
        &self,
        rejection: &HandshakeRejection,
        report: &M,
        table: StateTable,
        ctx: &Ctx,
    ) -> Advanced<Self> {
        let moved = Move::Sends(Handshake::Report);
        if table(self.role, Some(self.state), moved).is_none() {
            return match self.state {
                ConnectionState::Abandoned => Ok(Advance::repeated(self.clone())),
                _ => Err(Problem::wrong_state()),
            };
        }
        let recipient = match self.theirs {
            Some(_) => Recipient::Peer,
            None => Recipient::Invitation,
        };
        let mut next = self.clone();
        let message = next.dialogue.say(report, ctx);
        next.dialogue.error_msg.clone_from(&rejection.explain);
        let to = self.state.after_report(rejection.may_retry);
        Ok(next.moved(to).send(recipient, message))
    }

    /// The key that signs the response.
    pub(crate) fn signing_key(&self) -> Result<&VerKey, Problem> {
        let explain = "the key of the invitation is not known: resolve its DID first";
        let problem = Problem::new(ProblemKind::Content, "invitation-key-unknown", explain);
        self.invitation_key.as_ref().ok_or(problem)
    }
}

impl DidWithDoc {
    /// Whether the document, if there is one, is that of the DID. Older agents leave out the method on one side (RFC
    /// 0793), so the last part alone may be equal.
    pub fn is_consistent(&self) -> bool {
        let id = self
            .doc
            .as_ref()
            .map(|doc| doc.get("id").and_then(Value::as_str));
        let last = |did: &str| did.rsplit(':').next().unwrap_or_default().to_owned();
        match id {
            None => true,
            // Old documents have no `id`; the DID beside them is meant.
            Some(None) => true,
            Some(Some(id)) if id.starts_with("did:") && self.did.starts_with("did:") => {
                id == self.did
            }
            Some(Some(id)) => last(id) == last(&self.did),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn party(did: &str, doc: Option<Value>) -> bool {
        let did = did.to_owned();
        DidWithDoc { did, doc }.is_consistent()
    }

    #[test]
    fn a_document_of_another_did_is_not_consistent() {
        assert!(party("did:example:a", None));
        assert!(party(
            "did:example:a",
            Some(json!({ "id": "did:example:a" }))
        ));
        assert!(party("QmA", Some(json!({ "id": "did:sov:QmA" }))));
        assert!(party("QmA", Some(json!({ "publicKey": [] }))));
        assert!(!party(
            "did:example:a",
            Some(json!({ "id": "did:other:a" }))
        ));
        assert!(!party("QmB", Some(json!({ "id": "did:sov:QmA" }))));
    }

    #[test]
    fn states_are_stored_with_a_version() {
        for state in ConnectionState::ALL {
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(text, format!("\"{}/1\"", state.rfc160()));
        }
    }
}
