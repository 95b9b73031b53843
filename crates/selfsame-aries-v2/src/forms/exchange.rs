//! Issuing and proving: 2.0 of RFC 0453 and RFC 0454, 3.0 of DIDComm v2. An attachment says its format itself there, and
//! the preview of a credential has a body.

use selfsame_aries::exchange::Course;
use selfsame_aries::issue_credential::IssueCredential;
use selfsame_aries::present_proof::PresentProof;
use selfsame_aries::wire::Unreadable;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{Position, Semver};
use serde_json::{Map, Value, json};

use super::{NamedVersion, TwoForms};

/// The member that lists formats, and the one of the preview.
const FORMATS: &str = "formats";
const PREVIEW: &str = "credential_preview";
/// The name of a preview in its type: that of the RFC, and the one that version 3.0 gives.
const PREVIEWED: [&str; 2] = ["credential-preview", "credential-credential"];

/// Issuing in the table.
pub(super) const ISSUING: TwoForms = TwoForms {
    rfc: NamedVersion::new(IssueCredential::PROTOCOL, Semver::new(2, 0)),
    v2: NamedVersion::new(IssueCredential::PROTOCOL, Semver::new(3, 0)),
    renamed: &[],
    write,
    read: read::<IssueCredential>,
};

/// Proving in the table.
pub(super) const PROVING: TwoForms = TwoForms {
    rfc: NamedVersion::new(PresentProof::PROTOCOL, Semver::new(2, 0)),
    v2: NamedVersion::new(PresentProof::PROTOCOL, Semver::new(3, 0)),
    renamed: &[],
    write,
    read: read::<PresentProof>,
};

fn write(message: &mut Message) -> Result<(), Unreadable> {
    let formats = message.body.remove(FORMATS);
    let formats = formats.as_ref().and_then(Value::as_array);
    let formats = formats.map_or(&[][..], Vec::as_slice);
    for attachment in &mut message.attachments {
        let mut named = formats.iter();
        let named = named.find(|one| {
            let id = one.get("attach_id").and_then(Value::as_str);
            id.is_some() && id == attachment.id.as_deref()
        });
        let format = named.and_then(|one| one.get("format")?.as_str());
        let format = format.ok_or(Unreadable::Rule("each attachment must have one format"))?;
        attachment.format = Some(format.to_owned());
        attachment.position = Position::Appended;
    }
    if let Some(preview) = message.body.get_mut(PREVIEW) {
        let attributes = attributes(preview, ["mime-type", "media_type"]);
        let [_, name] = PREVIEWED;
        let kind = message.kind.sibling(name);
        *preview = json!({ "type": kind, "body": { "attributes": attributes } });
    }
    Ok(())
}

fn read<C: Course>(message: &mut Message) -> Result<(), Unreadable> {
    let mut entries = C::MESSAGES.iter();
    let entry = entries.find(|entry| entry.name == message.kind.name);
    // An acknowledgement has no attachments.
    let Some(entry) = entry else {
        message.attachments.clear();
        return Ok(());
    };
    let mut formats = Vec::new();
    for (number, attachment) in message.attachments.iter_mut().enumerate() {
        let format = attachment.format.take();
        let format = format.ok_or(Unreadable::Rule("each attachment must have one format"))?;
        let id = attachment
            .id
            .get_or_insert_with(|| format!("attachment-{number}"));
        formats.push(json!({ "attach_id": id, "format": format }));
        attachment.position = Position::List(entry.form.member.to_owned());
    }
    message
        .body
        .insert(FORMATS.to_owned(), Value::Array(formats));
    if let Some(preview) = message.body.get_mut(PREVIEW) {
        let told = preview.get("body").unwrap_or(preview);
        let attributes = attributes(told, ["media_type", "mime-type"]);
        let [name, _] = PREVIEWED;
        let kind = message.kind.sibling(name);
        *preview = json!({ "@type": kind, "attributes": attributes });
    }
    Ok(())
}

/// The attributes of a preview, with the member of the media type renamed. What is not an object stays, for the protocol
/// to refuse.
fn attributes(preview: &Value, [from, to]: [&str; 2]) -> Value {
    let Some(all) = preview.get("attributes").and_then(Value::as_array) else {
        return preview.get("attributes").cloned().unwrap_or_default();
    };
    let renamed = all.iter().map(|one| {
        let Value::Object(members) = one else {
            return one.clone();
        };
        let members = members.iter().map(|(name, value)| {
            let name = if name == from { to } else { name };
            (name.to_owned(), value.clone())
        });
        Value::Object(members.collect::<Map<_, _>>())
    });
    Value::Array(renamed.collect())
}
