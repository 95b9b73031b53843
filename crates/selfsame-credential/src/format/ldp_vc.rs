//! W3C credentials with Data Integrity proofs (`ldp_vc`, OpenID4VCI 1.0 §A.1.2, OpenID4VP 1.0 §B.1.3.2): the use of
//! `selfsame-data-integrity`. Credentials and presentations are JSON objects, and their texts are those of the objects.
//!
//! What the terms of a credential mean is settled by contexts that are compiled in, and by those that stand in it. None is
//! fetched, so a credential of a type of its own brings the terms of the type along.

mod describe;
mod hold;
mod issue;
mod present;
mod proof;
mod read;
pub(crate) mod verify;

pub(crate) use self::proof::CRYPTOSUITE;
pub use self::{
    describe::{BASE_CONTEXT, PROOF_TYPE, defines, suite_for, suite_names, suites},
    issue::{LdpError, LdpIssue},
    present::LdpPresent,
    read::{check, expand_types},
};
use super::entry::Entry;
pub use selfsame_data_integrity::{Cryptosuite, IntegrityError};

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: hold::hold,
    read_credential: verify::read_credential,
    read_presentation: verify::read_presentation,
    is_like: read::is_like,
    bare: present::bare,
    too_much: verify::too_much,
    asked_types: Some(read::asked_types),
    w3c: None,
};
