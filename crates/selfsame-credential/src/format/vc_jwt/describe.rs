//! The properties of W3C credentials of data model 2.0 as JWTs.

use crate::format::view::{Description, Profile, StatusForm};

pub(super) const DESCRIPTION: Description = Description {
    name: "vc+jwt",
    label: "vc_jwt",
    title: "W3C VC 2.0",
    summary: "W3C VC 2.0 as JWT: shown as a whole",
    profile: Profile::W3c,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
    status: StatusForm::Member,
    // VC-JOSE-COSE §4 defines neither certificates nor the metadata of SD-JWT VC.
    issuer_needs_did: true,
    undefined_terms: Some("https://www.w3.org/ns/credentials/undefined-terms/v2"),
    names_schema: true,
    is_for_machines: false,
};
