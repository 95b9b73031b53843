//! The properties of compact credentials.

use crate::format::view::{Description, Profile, StatusForm};

/// The type that every credential has; a compact one does not state it.
pub(super) const BASE_TYPE: &str = "VerifiableCredential";

/// The member that holds the claims about the subject.
pub(super) const CLAIMS: &str = "claims";

pub(super) const DESCRIPTION: Description = Description {
    name: "cwt",
    label: "cwt",
    title: "Compact (CWT)",
    summary: "Compact (CWT): for a machine, which shows it in TLS handshakes",
    profile: Profile::Compact,
    type_claims: &["type"],
    subject_claim: Some(CLAIMS),
    discloses_selectively: false,
    binds_to_did: true,
    status: StatusForm::ClaimByDid,
    // Nothing in the credential names the issuer: verifiers try the keys of the DIDs that they trust.
    issuer_needs_did: true,
    undefined_terms: None,
    names_schema: false,
    is_for_machines: true,
};
