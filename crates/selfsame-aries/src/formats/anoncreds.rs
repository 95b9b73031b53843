//! Attachments of AnonCreds, on whatever ledger (RFC 0771).

use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use super::members::members;
use super::{Artefact, AttachmentFormat, CredentialFilter, LIMITS};

/// The format in the table.
pub const FORMAT: AttachmentFormat = AttachmentFormat {
    name: "anoncreds",
    id,
    first_id,
    members,
    read_filter: |bytes| Ok(json::parse_as::<Filter>(bytes, &LIMITS)?.into()),
    write_filter: |filter| serde_json::to_vec(&Filter::from(filter)).unwrap_or_default(),
};

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

/// `credential-filter`.
#[derive(Default, Deserialize, Serialize)]
struct Filter {
    #[serde(skip_serializing_if = "Option::is_none")]
    cred_def_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_issuer_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<String>,
}

impl From<Filter> for CredentialFilter {
    fn from(filter: Filter) -> Self {
        Self {
            cred_def_id: filter.cred_def_id,
            issuer: filter.issuer_id,
            schema_id: filter.schema_id,
            schema_issuer: filter.schema_issuer_id,
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
            issuer_id: filter.issuer,
            schema_id: filter.schema_id,
            schema_issuer_id: filter.schema_issuer,
            schema_name: filter.schema_name,
            schema_version: filter.schema_version,
        }
    }
}
