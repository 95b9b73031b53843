//! What controllers want of an agent: invitations and their answers, exchanges, and notifications of revocation.

use selfsame_aries::revocation_notification::RevokedCredential;
use selfsame_did::Did;
use selfsame_didcomm::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::own_side::OwnDid;

/// An invitation of out-of-band to make.
#[derive(Clone, Debug, Default)]
pub struct NewOobInvitation {
    /// The protocols by which a connection can be made, such as `https://didcomm.org/didexchange/1.1`, the preferred
    /// one first; or `https://didcomm.org/didcomm/2.0` alone, for DIDComm v2.
    pub handshake_protocols: Vec<String>,
    /// First messages of exchanges, one of which is to be answered.
    pub requests: Vec<Message>,
    /// Whether many may use it.
    pub multi_use: bool,
    /// Whether it names the public DID in place of a key.
    pub public: bool,
    /// Another DID that it names in place of a key.
    pub did: Option<InvitationDid>,
    /// Whether a request for a connection is answered without the controller.
    pub auto_accept: bool,
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// How this agent calls itself in it, if not by its own name.
    pub label: Option<String>,
    /// What this agent wants, for people.
    pub goal: Option<String>,
    /// What this agent wants, for programs.
    pub goal_code: Option<String>,
    /// The profiles that this agent takes; none for those that it has.
    pub accept: Vec<String>,
}

/// A DID that an invitation names in place of a key.
#[derive(Clone, Debug)]
pub enum InvitationDid {
    /// One whose key this agent holds.
    Held(Did),
    /// One of this kind that the agent's invitations have in common, so that peers recognise it.
    Common(OwnDid),
    /// A new one of this kind.
    New(OwnDid),
}

/// How an invitation of out-of-band that was received is taken.
#[derive(Clone, Debug)]
pub struct OobAnswer {
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether the request for a connection is sent at once.
    pub auto_accept: bool,
    /// Whether a connection that was made with the same public DID is used again.
    pub use_existing_connection: bool,
    /// How this agent calls itself, if not by its own name.
    pub label: Option<String>,
    /// Seconds for which what answers without a connection is kept: the key, the exchange and the record of the invitation;
    /// without end if absent.
    pub key_seconds: Option<u64>,
}

/// A notification of revocation to send.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RevocationNotification {
    /// The major version of the protocol.
    pub major: u16,
    /// Which credential. Version 2 needs its place in a registry.
    pub credential: RevokedCredential,
    /// A word for people.
    pub comment: Option<String>,
}

/// An invitation of connections 1.0 to make.
#[derive(Clone, Debug, Default)]
pub struct NewInvitation {
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether a request is answered without the controller.
    pub auto_accept: bool,
    /// Whether many may use it.
    pub multi_use: bool,
    /// How this agent calls itself in it, if not by its own name.
    pub label: Option<String>,
    /// Whether it names the public DID in place of a key.
    pub public: bool,
}

/// How an invitation that was received is taken.
#[derive(Clone, Debug, Default)]
pub struct InvitationAnswer {
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether the request is sent at once.
    pub auto_accept: bool,
}

/// How an exchange begins.
#[derive(Clone, Debug)]
pub struct ExchangeBegin {
    /// The connection; `None` for one that goes with an invitation.
    pub connection_id: Option<String>,
    /// The major version of the protocol.
    pub major: u16,
    /// How far the agent goes on by itself.
    pub wishes: Wishes,
}

/// How far the agent goes on by itself in one exchange; `None` leaves it as it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wishes {
    /// Whether the issuer answers a request with the credential.
    pub auto_issue: Option<bool>,
    /// Whether the prover presents what it proposed.
    pub auto_present: Option<bool>,
    /// Whether the verifier verifies a presentation.
    pub auto_verify: Option<bool>,
    /// Whether the record is removed once the exchange is done.
    pub auto_remove: Option<bool>,
}

/// A request for a proof.
#[derive(Clone, Debug, Default)]
pub struct NewProofRequest {
    /// What is to be proven, by the name of each format.
    pub requests: Vec<NamedRequest>,
    /// What is to be proven, as a proposal of version 1 says it (RFC 0037, "Presentation Preview").
    pub preview: Option<Map<String, Value>>,
    /// A text for people.
    pub comment: Option<String>,
}

/// What is to be proven, in a format.
#[derive(Clone, Debug)]
pub struct NamedRequest {
    /// The format's name, such as `indy`.
    pub format: String,
    /// The request, such as a presentation request of AnonCreds. A nonce is added if it has none.
    pub request: Value,
}
