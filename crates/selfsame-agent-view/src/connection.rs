//! Connections and invitations as controllers see them. The members have the names of ACA-Py's admin API.

use selfsame_aries::connection::{Accepting, ConnectionRecord, ConnectionRole, InvitationMode, V2};
use selfsame_crypto::time::UnixTime;
use serde::Serialize;
use serde_json::Value;

/// Where both sides of a connection get their messages.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ConnectionEndpoints {
    /// This agent's URL.
    pub my_endpoint: String,
    /// The peer's URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub their_endpoint: Option<String>,
}

/// A connection.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ConnectionView {
    /// Its identifier.
    pub connection_id: String,
    /// Its state, by the name of RFC 0160.
    pub state: &'static str,
    /// Its state, by the name of RFC 0023.
    pub rfc23_state: &'static str,
    /// Who the peer is in it.
    pub their_role: &'static str,
    /// How the peer calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub their_label: Option<String>,
    /// This agent's DID in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub my_did: Option<String>,
    /// The peer's DID in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub their_did: Option<String>,
    /// The controller's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The key of the invitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation_key: Option<String>,
    /// The identifier of the invitation.
    pub invitation_msg_id: String,
    /// How often the invitation may be used: `once`, `multi` or `static`.
    pub invitation_mode: InvitationMode,
    /// The protocol that makes it, such as `didexchange/1.1`, or `didcomm/v2`.
    pub connection_protocol: String,
    /// The thread of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The public DID that invited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub their_public_did: Option<String>,
    /// Whether the agent goes on by itself: `auto` or `manual`.
    pub accept: Accepting,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_msg: Option<String>,
    /// When it was made, in UTC.
    pub created_at: String,
    /// When it was changed last, in UTC.
    pub updated_at: String,
    /// The states that it has been in, the oldest first, for pages.
    #[serde(skip)]
    pub history: Vec<PassedView>,
}

/// A state that a connection has been in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PassedView {
    /// The state, by the name of RFC 0023.
    pub state: &'static str,
    /// Since when, in UTC.
    pub at: String,
}

/// An invitation that was made.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct InvitationView {
    /// The identifier of the connection that it begins.
    pub connection_id: String,
    /// The invitation.
    pub invitation: Value,
    /// The invitation as a link.
    pub invitation_url: String,
}

impl ConnectionView {
    /// The connection with this identifier.
    #[must_use]
    pub fn of(id: &str, record: &ConnectionRecord) -> Self {
        Self {
            connection_id: id.to_owned(),
            state: record.state.rfc160(),
            rfc23_state: record.state.rfc23(record.role),
            their_role: match record.role {
                ConnectionRole::Inviter => "invitee",
                ConnectionRole::Invitee => "inviter",
            },
            their_label: record.their_label.clone(),
            my_did: record.ours.as_ref().map(|ours| ours.did.clone()),
            their_did: record.theirs.as_ref().map(|theirs| theirs.did.clone()),
            alias: record.alias.clone(),
            invitation_key: record.invitation_key.as_ref().map(|key| key.to_base58()),
            invitation_msg_id: record.invitation_id.clone(),
            invitation_mode: record.invitation_mode,
            connection_protocol: {
                let kind = &record.dialogue.kind;
                match kind.protocol == V2 {
                    true => format!("{V2}/v{}", kind.version.major),
                    false => format!("{}/{}", kind.protocol, kind.version),
                }
            },
            request_id: {
                let thread = &record.dialogue.thread_id;
                (*thread != record.invitation_id).then(|| thread.clone())
            },
            their_public_did: match record.role {
                ConnectionRole::Inviter => None,
                ConnectionRole::Invitee => record.invitation_did.clone(),
            },
            accept: record.accept,
            error_msg: record.dialogue.error_msg.clone(),
            created_at: written(record.dialogue.created_at),
            updated_at: written(record.dialogue.updated_at),
            history: record
                .history
                .iter()
                .map(|passed| PassedView {
                    state: passed.state().rfc23(record.role),
                    at: written(record.dialogue.created_at.plus(passed.after())),
                })
                .collect(),
        }
    }
}

fn written(at: UnixTime) -> String {
    at.rfc3339()
}

/// Which connections are listed: those that fit all that is given.
#[derive(Clone, Debug, Default)]
pub struct ConnectionFilter {
    /// The controller's name.
    pub alias: Option<String>,
    /// The key of the invitation.
    pub invitation_key: Option<String>,
    /// The identifier of the invitation.
    pub invitation_msg_id: Option<String>,
    /// This agent's DID.
    pub my_did: Option<String>,
    /// The peer's DID.
    pub their_did: Option<String>,
    /// Who the peer is, by the names of RFC 0160 or RFC 0023.
    pub their_role: Option<String>,
    /// The state, by the names of RFC 0160 or RFC 0023.
    pub state: Option<String>,
}

impl ConnectionFilter {
    /// Whether a connection fits all that is given.
    #[must_use]
    pub fn fits(&self, view: &ConnectionView) -> bool {
        let same = |asked: &Option<String>, own: &Option<String>| asked.is_none() || asked == own;
        let of = |asked: &Option<String>, names: [&str; 2]| {
            asked.as_deref().is_none_or(|asked| names.contains(&asked))
        };
        let role = match view.their_role {
            "invitee" => "requester",
            _ => "responder",
        };
        let state = match view.state {
            "active" => "completed",
            state => state,
        };
        same(&self.alias, &view.alias)
            && same(&self.invitation_key, &view.invitation_key)
            && same(&self.my_did, &view.my_did)
            && same(&self.their_did, &view.their_did)
            && of(
                &self.invitation_msg_id,
                [view.invitation_msg_id.as_str(); 2],
            )
            && of(&self.their_role, [view.their_role, role])
            && (of(&self.state, [view.state, state]) || of(&self.state, [view.rfc23_state; 2]))
    }
}
