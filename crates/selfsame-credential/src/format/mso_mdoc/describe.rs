//! The properties of mobile documents.

use crate::format::view::{Description, Profile, StatusForm};

/// The member of the claims that names the type.
pub(super) const DOC_TYPE: &str = "docType";

pub(super) const DESCRIPTION: Description = Description {
    name: "mso_mdoc",
    label: "mso_mdoc",
    title: "ISO mdoc",
    summary: "ISO mdoc: a mobile document, such as a driving licence; its elements can be shown one by one",
    profile: Profile::Mdoc,
    type_claims: &[DOC_TYPE],
    subject_claim: None,
    discloses_selectively: true,
    binds_to_did: false,
    status: StatusForm::SecurityObject,
    issuer_needs_did: false,
    undefined_terms: None,
    names_schema: false,
    is_for_machines: false,
};
