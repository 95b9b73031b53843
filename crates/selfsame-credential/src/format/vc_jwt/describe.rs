//! The facts on W3C credentials of data model 2.0 as JWTs.

use crate::format::entry::{Description, Typing};

pub(super) const DESCRIPTION: Description = Description {
    name: "vc+jwt",
    typing: Typing::Definition,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
};
