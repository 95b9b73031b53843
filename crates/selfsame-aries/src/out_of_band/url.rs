//! Invitations as links: `?oob=` (RFC 0434) and `?c_i=` (RFC 0160), with the invitation in base64url.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Version;
use url::Url;

use crate::connections::ConnectionMessage;
use crate::wire::{Incoming, Unreadable};

use super::messages::OobMessage;

/// The parameters: of RFC 0434, of RFC 0160.
const PARAMETERS: [&str; 2] = ["oob", "c_i"];
/// The maximum length of a link or an invitation in bytes. A QR code holds 3 kB; a link with attached requests more.
const TEXT_MAX: usize = 512 * 1024;

/// An invitation that came as a link or as text.
#[derive(Clone, Debug, PartialEq)]
pub enum InvitationText {
    /// Of out-of-band.
    OutOfBand(Incoming<OobMessage>),
    /// Of connections 1.0.
    Connection(Incoming<ConnectionMessage>),
}

/// Why a text is no invitation.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UrlProblem {
    /// The text is too long.
    #[error("the invitation is too long")]
    TooLong,
    /// It is neither JSON, nor base64url, nor a link with one of the parameters.
    #[error("this is no invitation: a link has the parameter `oob` or `c_i`")]
    NoInvitation,
    /// The message is not an invitation, or not a complete one.
    #[error("the invitation can't be read: {0}")]
    Unreadable(#[from] Unreadable),
}

/// Reads an invitation: a link, the invitation's JSON, or its base64url. A link that leads to the invitation must be
/// followed first.
///
/// # Errors
/// If it is malformed.
pub fn read_invitation(text: &str) -> Result<InvitationText, UrlProblem> {
    let message = read_message(text)?;
    if message.kind.is("connections", "invitation") {
        return Ok(InvitationText::Connection(Incoming::read(&message)?));
    }
    let read: Incoming<OobMessage> = Incoming::read(&message)?;
    match read.content {
        OobMessage::Invitation(_) => Ok(InvitationText::OutOfBand(read)),
        _ => Err(UrlProblem::NoInvitation),
    }
}

/// Reads the message in such a text, whatever it says.
///
/// # Errors
/// If it is missing.
pub fn read_message(text: &str) -> Result<Message, UrlProblem> {
    let text = text.trim();
    if text.len() > TEXT_MAX {
        return Err(UrlProblem::TooLong);
    }
    let plaintext = match text.starts_with('{') {
        true => text.as_bytes().to_vec(),
        false => decoded(&parameter(text)?).ok_or(UrlProblem::NoInvitation)?,
    };
    Ok(Message::read(&plaintext, Version::V1).map_err(Unreadable::from)?)
}

/// The parameter of a link, or the text itself. A `+` in it is one that was not escaped, and stands for itself: links
/// are written by hand too.
fn parameter(text: &str) -> Result<String, UrlProblem> {
    let Ok(url) = Url::parse(text) else {
        return Ok(text.to_owned());
    };
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let found = PARAMETERS.iter().find_map(|wanted| {
        let mut pairs = pairs.iter();
        pairs.find(|(name, _)| name == wanted)
    });
    let found = found.map(|(_, value)| value.replace(' ', "+"));
    found.ok_or(UrlProblem::NoInvitation)
}

/// Base64 in either alphabet, with or without padding (RFC 0434, "Standard Out-of-Band Message Encoding").
fn decoded(text: &str) -> Option<Vec<u8>> {
    let url = text
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    base64url_decode(&url).ok()
}

/// The invitation as a link below `base`, which people without an agent can open.
pub fn write_invitation(base: &Url, invitation: &Message) -> Url {
    let [oob, connection] = PARAMETERS;
    let parameter = match invitation.kind.protocol.as_str() {
        "connections" => connection,
        _ => oob,
    };
    let mut url = base.clone();
    let text = base64url_encode(&invitation.write(Version::V1));
    url.query_pairs_mut().append_pair(parameter, &text);
    url
}
