//! The properties of compact credentials.

use crate::format::view::{Description, Profile, StatusForm};

pub(super) const DESCRIPTION: Description = Description {
    name: "cwt",
    label: "cwt",
    title: "Compact (CWT)",
    summary: "Compact (CWT): for a machine, which shows it in TLS handshakes",
    profile: Profile::Compact,
    type_claims: &["type"],
    subject_claim: Some("claims"),
    discloses_selectively: false,
    binds_to_did: true,
    status: StatusForm::ClaimByDid,
    // Nothing in the credential names the issuer: verifiers try the keys of the DIDs that they trust.
    issuer_needs_did: true,
    undefined_terms: None,
    names_schema: false,
    is_for_machines: true,
};
