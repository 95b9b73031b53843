//! The messages, with the proposal of version 1, which has a preview in its body.

use selfsame_crypto::json;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::LIMITS;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::exchange::{Formatted, MessageEntry, MessageForm, Payload, Versioned};
use crate::formats::Artefact;
use crate::wire::{self, Unreadable};

/// A message of the protocol.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofMessage {
    /// `propose-presentation`.
    Proposal,
    /// `request-presentation`.
    Request,
    /// `presentation`.
    Presentation,
    /// `ack`.
    Ack,
    /// `problem-report`.
    Report,
}

/// The messages that have attachments.
pub(super) const ALL: &[MessageEntry<ProofMessage>] = &[
    MessageEntry {
        kind: ProofMessage::Proposal,
        name: "propose-presentation",
        form: MessageForm {
            member: "proposals",
            artefact: Artefact::ProposedProof,
            first: Some(Versioned {
                read: read_proposal,
                write: write_proposal,
            }),
        },
    },
    entry(
        ProofMessage::Request,
        "request-presentation",
        "request_presentations",
        Artefact::ProofRequest,
    ),
    entry(
        ProofMessage::Presentation,
        "presentation",
        "presentations",
        Artefact::Proof,
    ),
];

/// The name here of the preview in a proposal of version 1 (RFC 0037, "Presentation Preview"), which is JSON.
pub const PREVIEW: &str = "present-proof/1.0/presentation-preview";

const fn entry(
    kind: ProofMessage,
    name: &'static str,
    member: &'static str,
    artefact: Artefact,
) -> MessageEntry<ProofMessage> {
    let form = MessageForm {
        member,
        artefact,
        first: None,
    };
    MessageEntry { kind, name, form }
}

/// `propose-presentation` of version 1 (RFC 0037).
#[derive(Deserialize, Serialize)]
struct FirstProofProposal {
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    presentation_proposal: Map<String, Value>,
}

fn read_proposal(message: &Message) -> Result<Payload, Unreadable> {
    let body: FirstProofProposal = wire::body(message)?;
    let preview = Formatted {
        attach_id: "preview".to_owned(),
        format: PREVIEW.to_owned(),
        bytes: Some(json::to_bytes(&Value::Object(body.presentation_proposal))),
    };
    Ok(Payload {
        comment: body.comment,
        attachments: vec![preview],
        ..Payload::default()
    })
}

fn write_proposal(payload: &Payload, message: &mut Message) {
    let preview = payload.in_format(PREVIEW);
    let preview = preview.and_then(|bytes| json::parse_as(bytes, &LIMITS).ok());
    let body = FirstProofProposal {
        comment: payload.comment.clone(),
        presentation_proposal: preview.unwrap_or_default(),
    };
    wire::put_body(message, &body);
}
