//! The properties of W3C credentials of data model 1.1 as JWTs.

use crate::format::view::{Description, Profile, StatusForm};

pub(super) const DESCRIPTION: Description = Description {
    name: "jwt_vc_json",
    label: "jwt_vc_json",
    title: "W3C VC 1.1",
    summary: "W3C VC 1.1 as JWT: shown as a whole",
    profile: Profile::W3c,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
    // VCDM 1.1 §4.9 shows `credentialStatus` as one object, and readers of this format accept only that.
    status: StatusForm::ClaimAndMember,
    issuer_needs_did: true,
    undefined_terms: None,
    names_schema: false,
    is_for_machines: false,
};
