//! Attachments of DIF Credential Manifest (RFC 0511) and DIF Presentation Exchange (RFC 0510), for credentials that are
//! JWTs. A credential is attached as it is, in the format that it has.

use selfsame_credential::Format;
use selfsame_crypto::json;

use super::{Artefact, AttachmentFormat, CredentialFilter, LIMITS};

/// The format in the table.
pub const FORMAT: AttachmentFormat = AttachmentFormat {
    name: "dif",
    id,
    // Version 1 of the protocols does not know the format, so any identifier will do.
    first_id: |_| "dif-0",
    members,
    read_filter: |bytes| {
        Ok(CredentialFilter {
            terms: Some(json::parse(bytes, &LIMITS)?),
            ..CredentialFilter::default()
        })
    },
    write_filter: |filter| {
        filter
            .terms
            .as_ref()
            .map(json::to_bytes)
            .unwrap_or_default()
    },
};

const fn id(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::Filter | Artefact::Offer | Artefact::Request => "dif/credential-manifest@v1.0",
        Artefact::Credential => Format::DEFAULT.as_str(),
        Artefact::ProposedProof | Artefact::ProofRequest => {
            "dif/presentation-exchange/definitions@v1.0"
        }
        Artefact::Proof => "dif/presentation-exchange/submission@v1.0",
    }
}

const fn members(artefact: Artefact) -> &'static [&'static str] {
    match artefact {
        Artefact::Filter | Artefact::Credential => &[],
        Artefact::Offer => &["challenge", "domain", "credential_manifest"],
        Artefact::Request => &["proof"],
        Artefact::ProposedProof | Artefact::ProofRequest => &["presentation_definition"],
        Artefact::Proof => &["presentation_submission", "verifiableCredential"],
    }
}
