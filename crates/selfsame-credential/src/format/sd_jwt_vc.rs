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
use self::describe::NEVER_DISCLOSED;
use super::entry::Entry;
use crate::sd_jwt::SdJwtError;

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read,
    read_presentation: verify::read,
    // An SD-JWT contains tildes, as the texts in a JSON object may.
    is_like: |raw| raw.contains('~') && !raw.trim_start().starts_with('{'),
    bare: present::bare,
    too_much: || verify::malformed(SdJwtError::TooMuch),
    asked_types: None,
    w3c: None,
};

#[cfg(test)]
mod tests;
