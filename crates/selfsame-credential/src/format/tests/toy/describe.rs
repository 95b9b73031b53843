//! The properties of the toy.

use selfsame_crypto::jws;

use crate::format::view::{Description, Profile, StatusForm};

pub(super) const DESCRIPTION: Description = Description {
    name: "toy+jwt",
    label: "toy",
    title: "Toy",
    summary: "a toy",
    profile: Profile::SdJwtVc,
    type_claims: &["kind"],
    subject_claim: None,
    discloses_selectively: false,
    binds_to_did: false,
    status: StatusForm::Claim,
    issuer_needs_did: false,
    undefined_terms: None,
    names_schema: false,
    is_for_machines: false,
};

pub(super) const TYP: &str = "toy+jwt";
pub(super) const PROOF_TYP: &str = "toy-proof+jwt";

pub(super) fn is_like(raw: &str) -> bool {
    jws::Compact::parse(raw).is_ok_and(|jwt| jwt.header.is_of_type(TYP))
}
