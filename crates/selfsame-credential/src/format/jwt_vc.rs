//! W3C Verifiable Credentials Data Model 1.1 as a JWT (`jwt_vc_json`).

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
    hold: |raw| hold::hold(raw, Model::V1),
    read_credential: |raw, budget| verify::read_credential(raw, Model::V1, budget),
    read_presentation: |raw, budget| verify::read_presentation(raw, Model::V1, budget),
    // The older W3C format wraps its credential in `vc`.
    is_like: hold::has_vc,
    bare: |raw| w3c_present::bare(raw, Model::V1),
    too_much: verify::too_much,
    asked_types: None,
    w3c: Some(Variant {
        model: Model::V1,
        credential: issue::payload,
        presentation: present::payload,
    }),
};
