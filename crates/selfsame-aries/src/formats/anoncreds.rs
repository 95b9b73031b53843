//! Attachments of AnonCreds, on whatever ledger (RFC 0771).

use super::members::members;
use super::{Artefact, AttachmentFormat, filter};

/// The format in the table.
pub const FORMAT: AttachmentFormat = AttachmentFormat {
    name: "anoncreds",
    id,
    first_id,
    members,
    read_filter: |bytes| filter::read(bytes, &ISSUERS),
    write_filter: |wanted| filter::write(wanted, &ISSUERS),
};

/// How a filter names the issuers.
const ISSUERS: filter::IssuerNames = [
    ("issuer_id", "issuer"),
    ("schema_issuer_id", "schema_issuer"),
];

const fn id(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Filter => "anoncreds/credential-filter@v1.0",
        Artefact::Offer => "anoncreds/credential-offer@v1.0",
        Artefact::Request => "anoncreds/credential-request@v1.0",
        Artefact::Credential => "anoncreds/credential@v1.0",
        Artefact::ProposedProof | Artefact::ProofRequest => "anoncreds/proof-request@v1.0",
        Artefact::Proof => "anoncreds/proof@v1.0",
    }
}

/// Version 1 of the protocols does not know the format, so any identifier will do.
const fn first_id(_: Artefact) -> &'static str {
    "anoncreds-0"
}
