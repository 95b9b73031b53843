//! W3C Verifiable Credentials Data Model 2.0 as a JWT (`vc+jwt`, VC-JOSE-COSE).

mod describe;
mod issue;
mod present;

use super::{
    entry::Entry,
    w3c::{Variant, hold, present as w3c_present, verify},
};
use crate::w3c::Model;

pub(super) const ENTRY: Entry = Entry {
    description: describe::DESCRIPTION,
    hold: |raw| hold::hold(raw, Model::V2),
    read_credential: |raw, budget| verify::read_credential(raw, Model::V2, budget),
    read_presentation: |raw, budget| verify::read_presentation(raw, Model::V2, budget),
    is_like: |raw| raw.contains('.') && !raw.trim_start().starts_with('{'),
    bare: |raw| w3c_present::bare(raw, Model::V2),
    too_much: verify::too_much,
    asked_types: None,
    w3c: Some(Variant {
        model: Model::V2,
        credential: issue::payload,
        presentation: present::payload,
    }),
};
