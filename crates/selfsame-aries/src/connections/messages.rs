//! The messages of connections 1.0.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

use crate::connection::{DidWithDoc, Handshake};
use crate::key::VerKey;
use crate::notification::{Ack, ProblemReport};
use crate::wire::{self, Unreadable, Vocabulary};

use super::signature::FieldSignature;

/// Keys of an invitation, at most.
const KEYS_MAX: usize = 16;

/// A message of connections 1.0.
#[derive(Clone, Debug, PartialEq)]
pub enum ConnectionMessage {
    /// `invitation`.
    Invitation(ConnectionInvitation),
    /// `request`.
    Request(ConnectionRequest),
    /// `response`.
    Response(FieldSignature),
    /// An acknowledgement that another protocol defines.
    Ack(Ack),
    /// `problem_report`.
    Report(ProblemReport),
}

/// An invitation (RFC 0160 §0).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConnectionInvitation {
    /// How the inviter calls itself.
    pub label: Option<String>,
    /// The address of a picture of the inviter, which agents show.
    pub image_url: Option<String>,
    /// Where to send the request.
    pub to: InvitedTo,
}

/// Where an invitation asks to send the request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum InvitedTo {
    /// To a DID that can be resolved.
    Did(String),
    /// To keys at an endpoint.
    Keys {
        /// The keys that the request is encrypted for; the first signs the response.
        recipient_keys: Vec<VerKey>,
        /// A URL, or the DID of an agency.
        endpoint: String,
        /// The keys of mediators, in the order in which they wrap a message.
        routing_keys: Vec<VerKey>,
    },
}

/// A request (RFC 0160 §1).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ConnectionRequest {
    /// How the invitee calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The invitee's DID and document.
    pub connection: DidWithDoc,
}

#[derive(Deserialize, Serialize)]
struct ResponseBody {
    #[serde(rename = "connection~sig")]
    connection: FieldSignature,
}

/// The members of an invitation.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct InvitationBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    did: Option<String>,
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    recipient_keys: Vec<VerKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_endpoint: Option<String>,
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    routing_keys: Vec<VerKey>,
}

impl ConnectionMessage {
    /// Which message of a connection it is.
    pub const fn handshake(&self) -> Handshake {
        match self {
            Self::Invitation(_) => Handshake::Invitation,
            Self::Request(_) => Handshake::Request,
            Self::Response(_) => Handshake::Response,
            Self::Ack(_) => Handshake::Complete,
            Self::Report(_) => Handshake::Report,
        }
    }
}

impl ConnectionInvitation {
    /// The key that the response will be signed with; `None` if the invitation names a DID.
    pub fn key(&self) -> Option<&VerKey> {
        match &self.to {
            InvitedTo::Did(_) => None,
            InvitedTo::Keys { recipient_keys, .. } => recipient_keys.first(),
        }
    }

    /// The DID that it names; `None` if it has keys.
    pub fn did(&self) -> Option<&str> {
        match &self.to {
            InvitedTo::Did(did) => Some(did),
            InvitedTo::Keys { .. } => None,
        }
    }

    fn of(body: InvitationBody) -> Result<Self, Unreadable> {
        let count = body.recipient_keys.len().max(body.routing_keys.len());
        if count > KEYS_MAX {
            return Err(Unreadable::Rule("the invitation has too many keys"));
        }
        let to = match (body.did, body.service_endpoint) {
            (Some(did), None) if body.recipient_keys.is_empty() => InvitedTo::Did(did),
            (None, Some(endpoint)) if !body.recipient_keys.is_empty() => InvitedTo::Keys {
                recipient_keys: body.recipient_keys,
                endpoint,
                routing_keys: body.routing_keys,
            },
            // RFC 0160 §0: a public DID, or keys with an endpoint.
            _ => {
                return Err(Unreadable::Rule(
                    "an invitation has a DID, or keys and an endpoint",
                ));
            }
        };
        Ok(Self {
            label: body.label,
            image_url: body.image_url,
            to,
        })
    }

    fn body(&self) -> InvitationBody {
        let body = InvitationBody {
            label: self.label.clone(),
            image_url: self.image_url.clone(),
            ..InvitationBody::default()
        };
        match self.to.clone() {
            InvitedTo::Did(did) => InvitationBody {
                did: Some(did),
                ..body
            },
            InvitedTo::Keys {
                recipient_keys,
                endpoint,
                routing_keys,
            } => InvitationBody {
                recipient_keys,
                service_endpoint: Some(endpoint),
                routing_keys,
                ..body
            },
        }
    }
}

impl Vocabulary for ConnectionMessage {
    const PROTOCOL: &'static str = "connections";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.kind.name.as_str() {
            "invitation" => ConnectionInvitation::of(wire::body(message)?).map(Self::Invitation),
            "request" => {
                let request: ConnectionRequest = wire::body(message)?;
                match request.connection.is_consistent() {
                    true => Ok(Self::Request(request)),
                    false => Err(Unreadable::Rule("the document is of another DID")),
                }
            }
            "response" => {
                wire::body(message).map(|body: ResponseBody| Self::Response(body.connection))
            }
            "ack" => Ack::read(message).map(Self::Ack),
            _ if wire::is_report(&message.kind) => Ok(Self::Report(ProblemReport::read(message))),
            _ => Err(Unreadable::Name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Invitation(_) => "invitation",
            Self::Request(_) => "request",
            Self::Response(_) => "response",
            Self::Ack(_) => "ack",
            Self::Report(_) => "problem_report",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Invitation(invitation) => wire::put_body(message, &invitation.body()),
            Self::Request(request) => wire::put_body(message, request),
            Self::Response(connection) => {
                let connection = connection.clone();
                wire::put_body(message, &ResponseBody { connection });
            }
            Self::Ack(ack) => ack.write(message),
            Self::Report(report) => report.write_with_code(message),
        }
    }
}
