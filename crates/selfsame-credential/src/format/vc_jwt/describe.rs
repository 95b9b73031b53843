//! The facts on W3C credentials of data model 2.0 as JWTs.

use crate::format::entry::{Description, Profile};

pub(super) const DESCRIPTION: Description = Description {
    name: "vc+jwt",
    profile: Profile::W3c,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
};
