//! Invitations of Aries agents (RFC 0434, RFC 0160), as links and as JSON.

use selfsame_aries::out_of_band::{InvitationText, read_invitation, read_message};
use selfsame_didcomm::message::Version;
use serde_json::Value;

use crate::mask::mask;
use crate::{ShownFile, ShownProblem};

/// An invitation.
pub fn explain(text: &str) -> ShownFile {
    let message = read_message(text).ok();
    let members = message.map(|message| message.write(Version::V1));
    let members = members.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let content = mask(members.unwrap_or(Value::Null));
    let (format, title, problems) = match read_invitation(text) {
        Err(error) => {
            let problem = ShownProblem::new(error.to_string(), "Aries RFC 0434");
            ("invitation", "Invitation of an agent", vec![problem])
        }
        Ok(InvitationText::Connection(_)) => {
            ("connections/1.0", "Invitation to a connection", Vec::new())
        }
        Ok(InvitationText::OutOfBand(_)) => {
            ("out-of-band/1.x", "Invitation of an agent", Vec::new())
        }
    };
    ShownFile::of(format, title, content).with(problems)
}
