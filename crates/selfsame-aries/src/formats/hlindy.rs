//! Attachments of Indy's credentials (RFC 0592), which version 1 of the protocols has too (RFC 0036, RFC 0037).

use super::members::members;
use super::{Artefact, AttachmentFormat, filter};

/// The format in the table.
pub const FORMAT: AttachmentFormat = AttachmentFormat {
    name: "indy",
    id,
    first_id,
    members,
    read_filter: |bytes| filter::read(bytes, &ISSUERS),
    write_filter: |wanted| filter::write(wanted, &ISSUERS),
};

/// How a filter names the issuers.
const ISSUERS: filter::IssuerNames = [
    ("issuer_did", "issuer"),
    ("schema_issuer_did", "schema_issuer"),
];

const fn id(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Filter => "hlindy/cred-filter@v2.0",
        Artefact::Offer => "hlindy/cred-abstract@v2.0",
        Artefact::Request => "hlindy/cred-req@v2.0",
        Artefact::Credential => "hlindy/cred@v2.0",
        Artefact::ProposedProof | Artefact::ProofRequest => "hlindy/proof-req@v2.0",
        Artefact::Proof => "hlindy/proof@v2.0",
    }
}

const fn first_id(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Filter => "libindy-cred-filter-0",
        Artefact::Offer => "libindy-cred-offer-0",
        Artefact::Request => "libindy-cred-request-0",
        Artefact::Credential => "libindy-cred-0",
        Artefact::ProposedProof | Artefact::ProofRequest => "libindy-request-presentation-0",
        Artefact::Proof => "libindy-presentation-0",
    }
}
