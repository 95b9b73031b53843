//! Invitations of out-of-band as controllers see them. The members have the names of ACA-Py's admin API.

use selfsame_aries::key::VerKey;
use selfsame_aries::out_of_band::{OobRecord, OobRole};
use serde::Serialize;
use serde_json::Value;
use url::Url;

/// An invitation, made or received.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct OobView {
    /// The identifier of its record.
    pub oob_id: String,
    /// Its state, by the name of RFC 0434.
    pub state: &'static str,
    /// Who this agent is: `sender` or `receiver`.
    pub role: OobRole,
    /// The identifier of the invitation.
    pub invi_msg_id: String,
    /// The invitation.
    pub invitation: Value,
    /// The connection that it led to, or that waits for its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// The thread of the attached request that is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach_thread_id: Option<String>,
    /// The identifier of the message that asks to use a connection again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse_msg_id: Option<String>,
    /// Our key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub our_recipient_key: Option<String>,
    /// Where the sender of the invitation gets its messages, without a connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub their_service: Option<Value>,
    /// Whether any number of receivers may use it.
    pub multi_use: bool,
    /// Whether its messages are traced: never.
    pub trace: bool,
    /// When it was made, in UTC.
    pub created_at: String,
    /// When it was changed last, in UTC.
    pub updated_at: String,
}

/// An invitation that was made.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct OobInvitationView {
    /// The identifier of the invitation.
    pub invitation_id: String,
    /// The same.
    pub invi_msg_id: String,
    /// The identifier of its record.
    pub oob_id: String,
    /// Its state, by ACA-Py's name.
    pub state: &'static str,
    /// The invitation.
    pub invitation: Value,
    /// The invitation as a link.
    pub invitation_url: String,
    /// The connection that waits for a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// Whether its messages are traced: never.
    pub trace: bool,
}

/// What an agent knows of an invitation beside the protocol.
#[derive(Clone, Debug, Default)]
pub struct OobSides<'a> {
    /// The connection that it led to, or that waits for its answer.
    pub connection_id: Option<String>,
    /// Our key.
    pub own_key: Option<&'a VerKey>,
    /// Where the sender of the invitation gets its messages, as the decorator `~service` says it.
    pub their_service: Option<Value>,
}

impl OobView {
    /// The invitation with this identifier.
    #[must_use]
    pub fn of(id: &str, record: &OobRecord, sides: OobSides<'_>) -> Self {
        Self {
            oob_id: id.to_owned(),
            state: record.state.name(),
            role: record.role,
            invi_msg_id: record.dialogue.thread_id.clone(),
            invitation: serde_json::from_str(&record.invitation).unwrap_or_default(),
            connection_id: sides.connection_id,
            attach_thread_id: record.attach_thread_id.clone(),
            reuse_msg_id: record.reuse_msg_id.clone(),
            our_recipient_key: sides.own_key.map(VerKey::to_base58),
            their_service: sides.their_service,
            multi_use: record.multi_use,
            trace: false,
            created_at: record.dialogue.created_at.rfc3339(),
            updated_at: record.dialogue.updated_at.rfc3339(),
        }
    }

    /// Whether this agent made it.
    #[must_use]
    pub fn is_made_here(&self) -> bool {
        self.role == OobRole::Sender
    }
}

impl OobInvitationView {
    /// The invitation of this record with its link, and the connection that waits for a request.
    #[must_use]
    pub fn of(oob_id: &str, record: &OobRecord, link: &Url, connection_id: Option<String>) -> Self {
        let id = &record.dialogue.thread_id;
        Self {
            invitation_id: id.clone(),
            invi_msg_id: id.clone(),
            oob_id: oob_id.to_owned(),
            state: "initial",
            invitation: serde_json::from_str(&record.invitation).unwrap_or_default(),
            invitation_url: link.to_string(),
            connection_id,
            trace: false,
        }
    }
}
