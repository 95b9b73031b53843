//! What a connection is given.

use selfsame_aries::connection::{DidWithDoc, HandshakeRejection};
use selfsame_aries::connections::ConnectionMessage;
use selfsame_aries::did_exchange::DidExchangeMessage;
use selfsame_aries::did_rotate::RotateMessage;
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::Incoming;
use selfsame_crypto::json::Limits;
use selfsame_did::Did;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;
use selfsame_store::Batch;

use crate::own_side::{NewParty, OwnSide};
use crate::relation::RelationMessage;
use crate::speaker::Speaker;

use selfsame_core::notice::Told;

/// What a connection is given.
pub struct ConnectionGiven {
    /// What it is.
    pub what: ConnectionWhat,
    /// This side, made for the step.
    pub made: Option<NewParty>,
}

/// What a connection can be given.
pub enum ConnectionWhat {
    /// A message of a protocol that makes connections.
    Received(Box<ReceivedHandshake>),
    /// The controller goes on: with the request as the invited side, with the response as the inviting one.
    Accept(OwnSide),
    /// The controller refuses what the peer sent.
    Reject(HandshakeRejection),
    /// A message of another protocol came on the connection.
    Heard(Aside),
    /// This agent says something of another protocol.
    Say(Aside),
    /// This side changes its DID, or ends the connection.
    Rotate(Rotating),
    /// A message of DID rotate.
    Rotated(Box<Incoming<RotateMessage>>),
    /// What an envelope of DIDComm v2 says of the DIDs.
    V2(V2What),
}

impl ConnectionWhat {
    /// Whether the peer ends the connection.
    pub fn is_farewell(&self) -> bool {
        match self {
            Self::Rotated(message) => message.content == RotateMessage::Hangup,
            Self::V2(V2What::Left) => true,
            _ => false,
        }
    }
}

/// What an envelope of DIDComm v2 says of the DIDs of a connection.
pub enum V2What {
    /// The peer has this DID now.
    Moved(Did),
    /// The peer ends the connection.
    Left,
    /// The peer writes to our new DID.
    Settled,
}

/// What a message or an act of another protocol leads to.
#[derive(Default)]
pub struct Aside {
    /// What is sent to the peer.
    pub answers: Vec<Message>,
    /// Further writes.
    pub writes: Option<Batch>,
    /// What controllers are told.
    pub tell: Vec<Told>,
}

/// How this side changes.
pub enum Rotating {
    /// To a new DID.
    To(OwnSide),
    /// To a DID whose key this agent holds.
    ToHeld(Did),
    /// It ends the connection.
    Hangup,
}

/// A message of a protocol that makes connections, with the keys of its envelope.
pub struct ReceivedHandshake {
    /// The message.
    pub message: HandshakeMessage,
    /// Our key that it was encrypted to; `None` if the controller brought it.
    pub recipient: Option<VerKey>,
    /// Who encrypted it; `None` if the sender is anonymous.
    pub sender: Option<Speaker>,
    /// Whether the sender takes answers on the connection that it came on.
    pub has_line: bool,
}

/// A message of a protocol that makes connections.
#[derive(Clone)]
pub enum HandshakeMessage {
    /// Of connections 1.0.
    Connection(Box<Incoming<ConnectionMessage>>),
    /// Of DID exchange.
    Exchange(Box<Incoming<DidExchangeMessage>>),
    /// Over DIDComm v2.
    V2(Box<Incoming<RelationMessage>>),
}

impl ConnectionGiven {
    /// This, without anything made for it.
    pub fn new(what: ConnectionWhat) -> Self {
        Self { what, made: None }
    }
}

impl ReceivedHandshake {
    /// Whether it asks for the connection.
    pub fn is_request(&self) -> bool {
        match &self.message {
            HandshakeMessage::Connection(message) => {
                matches!(message.content, ConnectionMessage::Request(_))
            }
            HandshakeMessage::Exchange(message) => {
                matches!(message.content, DidExchangeMessage::Request(_))
            }
            HandshakeMessage::V2(message) => {
                matches!(message.content, RelationMessage::First { .. })
            }
        }
    }

    /// Whether it grants the connection.
    pub fn is_response(&self) -> bool {
        match &self.message {
            HandshakeMessage::Connection(message) => {
                matches!(message.content, ConnectionMessage::Response(_))
            }
            HandshakeMessage::Exchange(message) => {
                matches!(message.content, DidExchangeMessage::Response(_))
            }
            HandshakeMessage::V2(_) => false,
        }
    }

    /// The type of the message.
    pub fn kind(&self) -> &MessageType {
        match &self.message {
            HandshakeMessage::Connection(message) => &message.kind,
            HandshakeMessage::Exchange(message) => &message.kind,
            HandshakeMessage::V2(message) => &message.kind,
        }
    }

    /// The thread of the message.
    pub fn thread_id(&self) -> &str {
        match &self.message {
            HandshakeMessage::Connection(message) => &message.thread_id,
            HandshakeMessage::Exchange(message) => &message.thread_id,
            HandshakeMessage::V2(message) => &message.thread_id,
        }
    }

    /// The invitation that the message names.
    pub fn invitation_id(&self) -> Option<&str> {
        let parent = match &self.message {
            HandshakeMessage::Connection(message) => &message.parent_thread_id,
            HandshakeMessage::Exchange(message) => &message.parent_thread_id,
            HandshakeMessage::V2(message) => &message.parent_thread_id,
        };
        parent.as_deref()
    }

    /// The DID of a request, with its document as the request says it, not verified.
    pub fn party(&self) -> Option<DidWithDoc> {
        match &self.message {
            HandshakeMessage::Connection(message) => match &message.content {
                ConnectionMessage::Request(request) => Some(request.connection.clone()),
                _ => None,
            },
            HandshakeMessage::Exchange(message) => match &message.content {
                DidExchangeMessage::Request(request) => Some(DidWithDoc {
                    did: request.did.clone(),
                    doc: match &request.document {
                        Some(document) => Some(document.json(&Limits::default()).ok()?),
                        None => None,
                    },
                }),
                _ => None,
            },
            HandshakeMessage::V2(message) => match &message.content {
                RelationMessage::First { did } => Some(DidWithDoc {
                    did: did.clone(),
                    doc: None,
                }),
                RelationMessage::Report(_) => None,
            },
        }
    }
}
