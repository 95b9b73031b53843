//! The status of a document. Its list is read by others; here it is what is known of one place in it.

use selfsame_crypto::time::UnixTime;
use selfsame_verdict::{BrokenRule, Checklist};

use super::MdocCourt;
use super::laws::STATUS;
use crate::error::MdocError;
use crate::held::IssuerSigned;
use crate::response::PresentedDocument;
use crate::security::MdocStatus;

/// Statuses of a list (Token Status List §7.1).
const VALID: u8 = 0;
const SUSPENDED: u8 = 2;

/// What is known of a place in a status list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownStatus<'a> {
    /// The URI of the list.
    pub uri: &'a str,
    /// The place.
    pub index: u64,
    /// The status there, or why it is not known. The signature and the age of the list were judged.
    pub value: Result<u8, String>,
    /// When the list was fetched.
    pub at: UnixTime,
}

/// The status that a judgement on this response wants to know.
///
/// # Errors
/// If the response can't be read.
pub fn status_wanted(response: &[u8]) -> Result<MdocStatus, MdocError> {
    let document = PresentedDocument::parse(response)?;
    status_of(&document.issuer_signed)
}

fn status_of(document: &IssuerSigned<'_>) -> Result<MdocStatus, MdocError> {
    Ok(document.security_object()?.status)
}

pub fn judge(status: &MdocStatus, court: &MdocCourt<'_>, list: &mut Checklist) {
    let unknown = BrokenRule::StatusUnknown;
    let (index, uri) = match status {
        MdocStatus::None if court.require_status => {
            let detail = "the policy requires a status, and the document has none";
            return list.fails_as(&STATUS, unknown, detail);
        }
        MdocStatus::None => return list.skips(&STATUS, "the document has no status"),
        MdocStatus::Unknown => {
            let detail = "the document has a status of a kind that is not known here";
            return list.fails_as(&STATUS, unknown, detail);
        }
        MdocStatus::List { index, uri } => (*index, uri.as_str()),
    };
    let mut statuses = court.statuses.iter();
    let known = statuses.find(|known| known.uri == uri && known.index == index);
    let Some(known) = known else {
        let detail = "the status list has not been fetched";
        return list.fails_as(&STATUS, unknown, detail);
    };
    list.status_seen(known.at.0);
    match &known.value {
        Ok(VALID) => list.passes(&STATUS, "valid"),
        Ok(SUSPENDED) => list.fails_as(&STATUS, BrokenRule::Suspended, "suspended"),
        Ok(_) => list.fails(&STATUS, "revoked"),
        Err(reason) => list.fails_as(&STATUS, unknown, reason.as_str()),
    }
}
