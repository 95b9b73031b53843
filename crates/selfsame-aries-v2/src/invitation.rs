//! Invitations of out-of-band 2.0 (DIDComm v2.1, "Out Of Band Messages"), and their links.
//!
//! The machine of out-of-band 1.1 goes on with them: the sender's DID is the service, and [`MADE_BY`] the protocol that
//! makes the connection.

use selfsame_aries::out_of_band::{OobInvitation, OobMessage, OobService, write_invitation};
use selfsame_aries::wire::{Incoming, Unreadable};
use selfsame_crypto::encoding::base64url_encode;
use selfsame_did::Did;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::service::is_profile;
use selfsame_didcomm::{Attachment, Message, Version};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::forms;

/// The identifier by which an invitation offers, and a connection has, no protocol but DIDComm v2 itself.
pub const MADE_BY: &str = "https://didcomm.org/didcomm/2.0";
/// The parameter of a link (DIDComm v2.1, "Standard Message Encoding").
pub const PARAMETER: &str = "_oob";

const OUT_OF_BAND: &str = "out-of-band";
const INVITATION: &str = "invitation";
/// Profiles and attached messages of one invitation, at most.
const LIST_MAX: usize = 16;
/// The maximum length of an attached message.
const REQUEST_MAX: usize = 256 * 1024;
/// The media type of an attached message.
const JSON: &str = "application/json";

/// The body. DIDComm does not define `label`, and many agents write it.
#[derive(Default, Deserialize, Serialize)]
struct InvitationBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accept: Option<Vec<String>>,
}

/// Whether these are the members of a message of DIDComm v2, not of the Aries RFCs.
pub fn is_v2(members: &Map<String, Value>) -> bool {
    members.contains_key("type") && !members.contains_key("@type")
}

/// Reads an invitation. Attached messages of protocols that are not spoken over DIDComm v2 are left out.
///
/// # Errors
/// If it is malformed, names no sender, takes no DIDComm v2, or has too many parts.
pub fn read(members: Map<String, Value>) -> Result<Incoming<OobMessage>, Unreadable> {
    let message = Message::from_members(members, Version::V2)?;
    if !message.kind.is(OUT_OF_BAND, INVITATION) {
        return Err(Unreadable::Name);
    }
    if Semver::new(2, 0).common(message.kind.version).is_none() {
        return Err(Unreadable::Version);
    }
    // DIDComm v2.1, "Invitation": from is required, and is the DID to answer to.
    let from = message.from.as_ref();
    let from = from.ok_or(Unreadable::Rule("the invitation names no sender"))?;
    let body = Value::Object(message.body.clone());
    let body: InvitationBody = serde_json::from_value(body)
        .map_err(|_| Unreadable::Rule("the body of the invitation has a member of another form"))?;
    let accept = body.accept.unwrap_or_default();
    if accept.len().max(message.attachments.len()) > LIST_MAX {
        return Err(Unreadable::Rule(
            "the invitation has too many profiles or attachments",
        ));
    }
    if !accept.is_empty() && !accept.iter().any(|profile| is_profile(profile)) {
        return Err(Unreadable::Rule("the sender does not take DIDComm v2"));
    }
    let mut requests = Vec::new();
    for attachment in &message.attachments {
        let attached = Message::read(&attachment.bytes(REQUEST_MAX)?, Version::V2)?;
        requests.extend(forms::read(&attached).ok());
    }
    let invitation = OobInvitation {
        label: body.label,
        image_url: None,
        goal_code: body.goal_code,
        goal: body.goal,
        accept,
        handshake_protocols: vec![MADE_BY.to_owned()],
        services: vec![OobService::Did(from.did.to_string())],
        requests,
    };
    Ok(Incoming {
        thread_id: message.thread_id().to_owned(),
        id: message.id,
        parent_thread_id: None,
        kind: kind(),
        content: OobMessage::Invitation(invitation),
    })
}

/// The type of an invitation.
fn kind() -> MessageType {
    MessageType::new(OUT_OF_BAND, Semver::new(2, 0), INVITATION)
}

/// Writes an invitation with this identifier from this DID.
///
/// # Errors
/// `Protocol` if an attached message is of a protocol that is not spoken over DIDComm v2.
pub fn write(
    id: &str,
    from: &Did,
    invitation: &OobInvitation,
) -> Result<Map<String, Value>, Unreadable> {
    let mut message = Message::new(kind(), id);
    message.from = Some(from.clone().into());
    let body = InvitationBody {
        goal_code: invitation.goal_code.clone(),
        goal: invitation.goal.clone(),
        label: invitation.label.clone(),
        accept: Some(invitation.accept.clone()).filter(|accept| !accept.is_empty()),
    };
    if let Ok(Value::Object(members)) = serde_json::to_value(body) {
        message.body = members;
    }
    for (number, request) in invitation.requests.iter().enumerate() {
        let written = forms::write(request)?;
        let members = Value::Object(written.to_members(Version::V2));
        let attachment = Attachment::of_json(format!("request-{number}"), members);
        message.attachments.push(attachment.of_type(JSON));
    }
    Ok(message.to_members(Version::V2))
}

/// What the record of an invitation says, of either version; `None` if it can't be read any more.
pub fn recorded(text: &str) -> Option<OobInvitation> {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else {
        return None;
    };
    let read = match is_v2(&members) {
        true => read(members),
        false => {
            let message = Message::from_members(members, Version::V1).ok()?;
            Incoming::<OobMessage>::read(&message)
        }
    };
    match read.ok()?.content {
        OobMessage::Invitation(invitation) => Some(invitation),
        _ => None,
    }
}

/// The invitation of a record, of either version, as a link below `base`; `None` if it can't be read any more.
pub fn recorded_link(base: &Url, text: &str) -> Option<Url> {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else {
        return None;
    };
    if is_v2(&members) {
        return Some(link(base, &members));
    }
    let message = Message::from_members(members, Version::V1).ok()?;
    Some(write_invitation(base, &message))
}

/// An invitation as a link below `base`.
pub fn link(base: &Url, invitation: &Map<String, Value>) -> Url {
    let mut url = base.clone();
    let text = base64url_encode(json!(invitation).to_string().as_bytes());
    url.query_pairs_mut().append_pair(PARAMETER, &text);
    url
}

#[cfg(test)]
mod tests;
