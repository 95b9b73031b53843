//! The messages, with the proposal of version 1, which has its filter in its body.

use selfsame_didcomm::Message;
use serde::{Deserialize, Serialize};

use crate::exchange::PreviewBody;
use crate::exchange::{Formatted, MessageEntry, MessageForm, Payload, Versioned};
use crate::formats::{Artefact, CredentialFilter, FIRST};
use crate::wire::{self, Unreadable};

/// A message of the protocol.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueMessage {
    /// `propose-credential`.
    Proposal,
    /// `offer-credential`.
    Offer,
    /// `request-credential`.
    Request,
    /// `issue-credential`.
    Credential,
    /// `ack`.
    Ack,
    /// `problem-report`.
    Report,
}

/// The messages that have attachments.
pub(super) const ALL: &[MessageEntry<IssueMessage>] = &[
    MessageEntry {
        kind: IssueMessage::Proposal,
        name: "propose-credential",
        form: MessageForm {
            member: "filters",
            artefact: Artefact::Filter,
            first: Some(Versioned {
                read: read_proposal,
                write: write_proposal,
            }),
        },
    },
    entry(
        IssueMessage::Offer,
        "offer-credential",
        "offers",
        Artefact::Offer,
    ),
    entry(
        IssueMessage::Request,
        "request-credential",
        "requests",
        Artefact::Request,
    ),
    entry(
        IssueMessage::Credential,
        "issue-credential",
        "credentials",
        Artefact::Credential,
    ),
];

const fn entry(
    kind: IssueMessage,
    name: &'static str,
    member: &'static str,
    artefact: Artefact,
) -> MessageEntry<IssueMessage> {
    let form = MessageForm {
        member,
        artefact,
        first: None,
    };
    MessageEntry { kind, name, form }
}

/// `propose-credential` of version 1 (RFC 0036).
#[derive(Deserialize, Serialize)]
struct FirstCredentialProposal {
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_proposal: Option<PreviewBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_issuer_did: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cred_def_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer_did: Option<String>,
}

fn read_proposal(message: &Message) -> Result<Payload, Unreadable> {
    let body: FirstCredentialProposal = wire::body(message)?;
    let filter = CredentialFilter {
        cred_def_id: body.cred_def_id,
        issuer: body.issuer_did,
        schema_id: body.schema_id,
        schema_issuer: body.schema_issuer_did,
        schema_name: body.schema_name,
        schema_version: body.schema_version,
        terms: None,
    };
    let filter = Formatted {
        attach_id: (FIRST.first_id)(Artefact::Filter).to_owned(),
        format: (FIRST.id)(Artefact::Filter).to_owned(),
        bytes: Some((FIRST.write_filter)(&filter)),
    };
    Ok(Payload {
        comment: body.comment,
        preview: body
            .credential_proposal
            .map(PreviewBody::preview)
            .transpose()?,
        attachments: vec![filter],
        ..Payload::default()
    })
}

fn write_proposal(payload: &Payload, message: &mut Message) {
    let bytes = payload.in_format((FIRST.id)(Artefact::Filter));
    let filter = bytes.and_then(|bytes| (FIRST.read_filter)(bytes).ok());
    let filter = filter.unwrap_or_default();
    let preview = payload.preview.as_ref();
    let body = FirstCredentialProposal {
        comment: payload.comment.clone(),
        credential_proposal: preview.map(|preview| PreviewBody::of(preview, &message.kind)),
        schema_issuer_did: filter.schema_issuer,
        schema_id: filter.schema_id,
        schema_name: filter.schema_name,
        schema_version: filter.schema_version,
        cred_def_id: filter.cred_def_id,
        issuer_did: filter.issuer,
    };
    wire::put_body(message, &body);
}
