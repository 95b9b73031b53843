//! The bodies of the messages of an exchange in both versions: version 1 has one format, which the position tells;
//! version 2 lists the format of each attachment.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::{Attachment, MessageType};
use serde::{Deserialize, Serialize};

use crate::formats::{self, Artefact};
use crate::wire::{self, Unreadable};

use super::payload::{Formatted, Payload, Preview, PreviewAttribute};

/// The maximum length of an attachment. A credential with a witness of a large registry has 30 kB.
const ATTACHMENT_MAX: usize = 1024 * 1024;
/// The maximum number of attachments and of formats.
const ATTACHMENTS_MAX: usize = 16;
/// The maximum number of attributes in a preview.
const ATTRIBUTES_MAX: usize = 512;
/// The major version whose messages list formats.
const WITH_FORMATS: u16 = 2;

/// A message of a protocol that has attachments.
#[derive(Clone, Copy, Debug)]
pub struct MessageEntry<K: 'static> {
    /// Which one it is.
    pub kind: K,
    /// Its name in the protocol, in both versions.
    pub name: &'static str,
    /// How its body is written.
    pub form: MessageForm,
}

/// How the body of a message is written.
#[derive(Clone, Copy, Debug)]
pub struct MessageForm {
    /// The member of the attachments, without `~attach`.
    pub member: &'static str,
    /// What the attachments are.
    pub artefact: Artefact,
    /// How version 1 differs, if it does.
    pub first: Option<Versioned>,
}

/// How version 1 writes a message that has no attachments there.
#[derive(Clone, Copy, Debug)]
pub struct Versioned {
    /// Reads the body.
    pub read: fn(&Message) -> Result<Payload, Unreadable>,
    /// Writes the body.
    pub write: fn(&Payload, &mut Message),
}

/// The body of both versions, without what only proposals of version 1 have.
#[derive(Default, Deserialize, Serialize)]
struct ExchangeBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    will_confirm: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_preview: Option<PreviewBody>,
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    formats: Vec<FormatOf>,
}

/// A preview as it is written. Controllers write its type without prefix, or not at all.
#[derive(Deserialize, Serialize)]
pub(crate) struct PreviewBody {
    #[serde(rename = "@type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    attributes: Vec<PreviewAttribute>,
}

#[derive(Deserialize, Serialize)]
struct FormatOf {
    #[serde(skip_serializing_if = "Option::is_none")]
    attach_id: Option<String>,
    format: String,
}

impl PreviewBody {
    /// The preview of a message of this type.
    pub(crate) fn of(preview: &Preview, kind: &MessageType) -> Self {
        Self {
            kind: Some(kind.sibling("credential-preview").to_string()),
            attributes: preview.attributes.clone(),
        }
    }

    /// What it says.
    ///
    /// # Errors
    /// If it has too many attributes, or one of them twice.
    pub(crate) fn preview(self) -> Result<Preview, Unreadable> {
        let attributes = self.attributes;
        if attributes.len() > ATTRIBUTES_MAX {
            return Err(Unreadable::Rule("the preview has too many attributes"));
        }
        let mut names: Vec<&str> = attributes.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        match names.len() == attributes.len() {
            true => Ok(Preview { attributes }),
            false => Err(Unreadable::Rule("the preview has an attribute twice")),
        }
    }
}

pub(super) fn read(message: &Message, form: &MessageForm) -> Result<Payload, Unreadable> {
    let is_first = message.kind.version.major < WITH_FORMATS;
    if let Some(first) = form.first.filter(|_| is_first) {
        return (first.read)(message);
    }
    let body: ExchangeBody = wire::body(message)?;
    let attachments = message.attached(form.member);
    let attachments = match is_first {
        true => attachments.map(|one| of_position(one, form)).collect(),
        false => formatted(attachments, body.formats),
    };
    let attachments: Vec<Formatted> = attachments?;
    if attachments.len() > ATTACHMENTS_MAX {
        return Err(Unreadable::Rule("the message has too many attachments"));
    }
    let is_complete =
        form.artefact.is_proposed() || attachments.iter().any(|one| one.bytes.is_some());
    if !is_complete {
        return Err(Unreadable::Rule("the message has no attachment"));
    }
    Ok(Payload {
        comment: body.comment,
        goal_code: body.goal_code,
        replacement_id: body.replacement_id,
        will_confirm: body.will_confirm,
        preview: body
            .credential_preview
            .map(PreviewBody::preview)
            .transpose()?,
        attachments,
    })
}

/// An attachment of version 1.
fn of_position(attachment: &Attachment, form: &MessageForm) -> Result<Formatted, Unreadable> {
    let first = formats::FIRST;
    let default = (first.first_id)(form.artefact);
    Ok(Formatted {
        attach_id: attachment.id.clone().unwrap_or_else(|| default.to_owned()),
        format: (first.id)(form.artefact).to_owned(),
        bytes: Some(attachment.bytes(ATTACHMENT_MAX)?),
    })
}

/// The attachments of version 2, each with its format (RFC 0453, RFC 0454: `formats`).
fn formatted<'a>(
    attachments: impl Iterator<Item = &'a Attachment>,
    formats: Vec<FormatOf>,
) -> Result<Vec<Formatted>, Unreadable> {
    let attachments: Vec<&Attachment> = attachments.collect();
    if formats.len() > ATTACHMENTS_MAX || attachments.len() > formats.len() {
        return Err(Unreadable::Rule("each attachment must have one format"));
    }
    let one = |of: FormatOf| {
        let attachment = attachments
            .iter()
            .find(|one| one.id.is_some() && one.id == of.attach_id);
        if attachment.is_none() && !attachments.is_empty() {
            return Err(Unreadable::Rule(
                "a format names an attachment that is not there",
            ));
        }
        let bytes = attachment
            .map(|one| one.bytes(ATTACHMENT_MAX))
            .transpose()?;
        Ok(Formatted {
            attach_id: of.attach_id.unwrap_or_default(),
            format: of.format,
            bytes,
        })
    };
    let all: Vec<Formatted> = formats.into_iter().map(one).collect::<Result<_, _>>()?;
    let mut ids: Vec<&str> = all.iter().map(|one| one.attach_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    match attachments.is_empty() || ids.len() == all.len() {
        true => Ok(all),
        false => Err(Unreadable::Rule("two formats name the same attachment")),
    }
}

pub(super) fn write(message: &mut Message, payload: &Payload, form: &MessageForm) {
    let is_first = message.kind.version.major < WITH_FORMATS;
    if let Some(first) = form.first.filter(|_| is_first) {
        return (first.write)(payload, message);
    }
    let later = |text: &Option<String>| text.clone().filter(|_| !is_first);
    let formats = payload.attachments.iter().map(|one| FormatOf {
        attach_id: one.bytes.as_ref().map(|_| one.attach_id.clone()),
        format: one.format.clone(),
    });
    let body = ExchangeBody {
        comment: payload.comment.clone(),
        goal_code: later(&payload.goal_code),
        replacement_id: later(&payload.replacement_id),
        will_confirm: payload.will_confirm.filter(|_| !is_first),
        credential_preview: payload
            .preview
            .as_ref()
            .map(|preview| PreviewBody::of(preview, &message.kind)),
        formats: formats.filter(|_| !is_first).collect(),
    };
    wire::put_body(message, &body);
    let first = formats::FIRST;
    let attached = payload.attachments.iter().filter_map(|one| {
        // Peers of version 1 find an attachment by its identifier.
        let id = match is_first && one.attach_id == first.name {
            true => (first.first_id)(form.artefact).to_owned(),
            false => one.attach_id.clone(),
        };
        let bytes = one.bytes.as_deref()?;
        let attachment = Attachment::of_bytes(id, bytes).in_list(form.member);
        // A credential that is a JWT has the type that its format has.
        Some(match bytes.starts_with(b"{") {
            true => attachment.of_type("application/json"),
            false => attachment,
        })
    });
    message.attachments.extend(attached);
}
