//! Mobile documents (`mso_mdoc`, ISO/IEC 18013-5): the use of `selfsame-mdoc`. A credential is IssuerSigned and a
//! presentation is DeviceResponse, both in base64url (OpenID4VCI 1.0 §A.2, OpenID4VP 1.0 §B.2).

mod describe;
mod hold;
mod issue;
mod present;
mod read;
mod verify;

pub use self::{issue::MdocIssue, present::MdocPresent};
use super::entry::Entry;

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read_credential,
    read_presentation: verify::read_presentation,
    is_like: read::is_like,
    bare: present::bare,
    too_much: verify::too_much,
    asked_types: None,
    w3c: None,
};

#[cfg(test)]
pub(crate) mod tests;
