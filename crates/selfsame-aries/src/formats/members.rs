//! The members of AnonCreds' JSON, which RFC 0592 and RFC 0771 attach alike.

use super::Artefact;

/// The members that the JSON of an attachment has at least.
pub(super) const fn members(artefact: Artefact) -> &'static [&'static str] {
    match artefact {
        Artefact::Filter => &[],
        Artefact::Offer => &["schema_id", "cred_def_id", "nonce", "key_correctness_proof"],
        Artefact::Request => &[
            "cred_def_id",
            "blinded_ms",
            "blinded_ms_correctness_proof",
            "nonce",
        ],
        Artefact::Credential => &[
            "schema_id",
            "cred_def_id",
            "values",
            "signature",
            "signature_correctness_proof",
        ],
        Artefact::ProposedProof | Artefact::ProofRequest => &[
            "nonce",
            "name",
            "version",
            "requested_attributes",
            "requested_predicates",
        ],
        Artefact::Proof => &["proof", "requested_proof", "identifiers"],
    }
}
