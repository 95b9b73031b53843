//! The messages of DID exchange.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::{Attachment, Semver};
use serde::{Deserialize, Serialize};

use crate::connection::Handshake;
use crate::notification::ProblemReport;
use crate::wire::{self, Unreadable, Vocabulary};

/// The members of the attachments.
pub(super) const DOCUMENT: &str = "did_doc";
pub(super) const ROTATION: &str = "did_rotate";

/// A message of DID exchange.
#[derive(Clone, Debug, PartialEq)]
pub enum DidExchangeMessage {
    /// `request`.
    Request(DidRequest),
    /// `response`.
    Response(DidResponse),
    /// `complete`.
    Complete,
    /// `problem_report`.
    Report(ProblemReport),
}

/// A request (RFC 0023 §1).
#[derive(Clone, Debug, PartialEq)]
pub struct DidRequest {
    /// How the requester calls itself. The RFC requires it; some agents leave it out.
    pub label: Option<String>,
    /// What the requester wants, for programs (RFC 0519).
    pub goal_code: Option<String>,
    /// What the requester wants, for people.
    pub goal: Option<String>,
    /// The requester's DID.
    pub did: String,
    /// Its document, signed, unless the DID can be resolved.
    pub document: Option<Attachment>,
}

/// A response (RFC 0023 §2).
#[derive(Clone, Debug, PartialEq)]
pub struct DidResponse {
    /// The responder's DID.
    pub did: String,
    /// Its document, signed with the key of the invitation, unless the DID can be resolved.
    pub document: Option<Attachment>,
    /// The DID, signed with the key of the invitation (version 1.1).
    pub rotation: Option<Attachment>,
}

#[derive(Deserialize, Serialize)]
struct DidBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    did: String,
}

impl DidExchangeMessage {
    /// Which message of a connection it is.
    pub const fn handshake(&self) -> Handshake {
        match self {
            Self::Request(_) => Handshake::Request,
            Self::Response(_) => Handshake::Response,
            Self::Complete => Handshake::Complete,
            Self::Report(_) => Handshake::Report,
        }
    }
}

/// The one attachment of this member.
fn attached(message: &Message, member: &str) -> Result<Option<Attachment>, Unreadable> {
    let mut all = message.attached(member);
    match (all.next(), all.next()) {
        (one, None) => Ok(one.cloned()),
        _ => Err(Unreadable::Rule("there is more than one document")),
    }
}

impl Vocabulary for DidExchangeMessage {
    const PROTOCOL: &'static str = "didexchange";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 1)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.kind.name.as_str() {
            "request" => {
                let body: DidBody = wire::body(message)?;
                Ok(Self::Request(DidRequest {
                    label: body.label,
                    goal_code: body.goal_code,
                    goal: body.goal,
                    did: body.did,
                    document: attached(message, DOCUMENT)?,
                }))
            }
            "response" => {
                let body: DidBody = wire::body(message)?;
                Ok(Self::Response(DidResponse {
                    did: body.did,
                    document: attached(message, DOCUMENT)?,
                    rotation: attached(message, ROTATION)?,
                }))
            }
            "complete" => Ok(Self::Complete),
            _ if wire::is_report(&message.kind) => Ok(Self::Report(ProblemReport::read(message))),
            _ => Err(Unreadable::Name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Request(_) => "request",
            Self::Response(_) => "response",
            Self::Complete => "complete",
            Self::Report(_) => "problem_report",
        }
    }

    fn write(&self, message: &mut Message) {
        let body = |did: &str| DidBody {
            label: None,
            goal_code: None,
            goal: None,
            did: did.to_owned(),
        };
        match self {
            Self::Request(request) => {
                let body = DidBody {
                    label: request.label.clone(),
                    goal_code: request.goal_code.clone(),
                    goal: request.goal.clone(),
                    ..body(&request.did)
                };
                wire::put_body(message, &body);
                message.attachments.extend(request.document.clone());
            }
            Self::Response(response) => {
                wire::put_body(message, &body(&response.did));
                message.attachments.extend(response.document.clone());
                message.attachments.extend(response.rotation.clone());
            }
            Self::Complete => {}
            Self::Report(report) => report.write_with_code(message),
        }
    }
}
