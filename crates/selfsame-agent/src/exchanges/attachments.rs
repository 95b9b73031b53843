//! The attachments of a message, by their formats.

use selfsame_agent_view::attachments::{KnownAttachment, known};
use selfsame_aries::exchange::{Formatted, Payload};
use selfsame_aries::formats::{Artefact, AttachmentFormat, FORMATS};
use selfsame_driver::{Error, Result};

/// The first attachment in a known format.
///
/// # Errors
/// `BadRequest` if there is none.
pub fn first(payload: Option<&Payload>) -> Result<KnownAttachment<'_>> {
    let mut all = payload.into_iter().flat_map(known);
    let found = all.next();
    found.ok_or_else(|| Error::bad_request("aries-attachment-unspoken"))
}

/// The format with this name in the API.
///
/// # Errors
/// `BadRequest` if there is none.
pub fn named(name: &str) -> Result<&'static AttachmentFormat> {
    let mut all = FORMATS.iter().copied();
    let found = all.find(|format| format.name == name);
    found.ok_or_else(|| Error::bad_request("aries-format-unknown").with("format", &name))
}

/// An attachment in this format.
pub fn attached(
    format: &'static AttachmentFormat,
    artefact: Artefact,
    bytes: Vec<u8>,
) -> Formatted {
    Formatted {
        attach_id: format.name.to_owned(),
        format: (format.id)(artefact).to_owned(),
        bytes: Some(bytes),
    }
}
