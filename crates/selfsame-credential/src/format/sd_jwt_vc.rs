//! SD-JWT VC (`dc+sd-jwt`): draft-ietf-oauth-sd-jwt-vc on RFC 9901.

pub(super) mod describe;
mod hold;
mod issue;
mod present;
pub(crate) mod verify;

pub use self::{
    issue::{Draft, Issue, IssueError},
    present::{KeyBindingClaims, KeyBindingDraft},
};

#[cfg(test)]
pub(crate) use self::describe::NEVER_DISCLOSED;
use super::entry::Entry;
use crate::sd_jwt::SdJwtError;

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read,
    read_presentation: verify::read,
    // An SD-JWT contains tildes.
    is_like: |raw| raw.contains('~'),
    bare: present::bare,
    too_much: || verify::malformed(SdJwtError::TooMuch),
    w3c: None,
};
