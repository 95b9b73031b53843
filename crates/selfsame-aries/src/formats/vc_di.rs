//! Attachments of W3C credentials with Data Integrity proofs (RFC 0809), of which AnonCreds' are made here. Presentations of
//! them are attached as DIF Presentation Exchange has them.

use super::{Artefact, AttachmentFormat, hlindy};

/// The format in the table.
pub const FORMAT: AttachmentFormat = AttachmentFormat {
    name: "vc_di",
    id,
    // Version 1 of the protocols does not know the format, so any identifier will do.
    first_id: |_| "vc-di-0",
    members,
    read_filter: hlindy::FORMAT.read_filter,
    write_filter: hlindy::FORMAT.write_filter,
};

const fn id(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Offer => "didcomm/w3c-di-vc-offer@v0.1",
        Artefact::Request => "didcomm/w3c-di-vc-request@v0.1",
        // A proposal has the identifier of the credential. Nothing is proven in this format.
        _ => "didcomm/w3c-di-vc@v0.1",
    }
}

const fn members(artefact: Artefact) -> &'static [&'static str] {
    match artefact {
        Artefact::Offer => &["data_model_versions_supported", "credential"],
        Artefact::Request => &["data_model_version"],
        Artefact::Credential => &["credential"],
        _ => &[],
    }
}
