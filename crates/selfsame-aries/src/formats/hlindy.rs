//! Attachments of Indy's credentials (RFC 0592), which version 1 of the protocols has too (RFC 0036, RFC 0037).

use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use super::members::members;
use super::{Artefact, AttachmentFormat, CredentialFilter, LIMITS};

/// The format in the table.
pub const FORMAT: AttachmentFormat = AttachmentFormat {
    name: "indy",
    id,
    first_id,
    members,
    read_filter: |bytes| Ok(json::parse_as::<Filter>(bytes, &LIMITS)?.into()),
    write_filter: |filter| serde_json::to_vec(&Filter::from(filter)).unwrap_or_default(),
};

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

/// `cred-filter`.
#[derive(Default, Deserialize, Serialize)]
struct Filter {
    #[serde(skip_serializing_if = "Option::is_none")]
    cred_def_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer_did: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_issuer_did: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<String>,
}

impl From<Filter> for CredentialFilter {
    fn from(filter: Filter) -> Self {
        Self {
            cred_def_id: filter.cred_def_id,
            issuer: filter.issuer_did,
            schema_id: filter.schema_id,
            schema_issuer: filter.schema_issuer_did,
            schema_name: filter.schema_name,
            schema_version: filter.schema_version,
        }
    }
}

impl From<&CredentialFilter> for Filter {
    fn from(filter: &CredentialFilter) -> Self {
        let filter = filter.clone();
        Self {
            cred_def_id: filter.cred_def_id,
            issuer_did: filter.issuer,
            schema_id: filter.schema_id,
            schema_issuer_did: filter.schema_issuer,
            schema_name: filter.schema_name,
            schema_version: filter.schema_version,
        }
    }
}
