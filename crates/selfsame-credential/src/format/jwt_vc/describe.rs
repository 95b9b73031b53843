//! The facts on W3C credentials of data model 1.1 as JWTs.

use crate::format::entry::{Description, Typing};

pub(super) const DESCRIPTION: Description = Description {
    name: "jwt_vc_json",
    typing: Typing::Definition,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
};
