//! The facts on W3C credentials of data model 1.1 as JWTs.

use crate::format::entry::{Description, Profile};

pub(super) const DESCRIPTION: Description = Description {
    name: "jwt_vc_json",
    profile: Profile::W3c,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
};
