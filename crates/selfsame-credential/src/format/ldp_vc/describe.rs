//! The properties of W3C credentials with Data Integrity proofs, and their cryptosuites.

use selfsame_crypto::Algorithm;
use selfsame_data_integrity::vc::VcModel;
use selfsame_data_integrity::{Contexts, Cryptosuite};

use crate::format::view::{Description, Profile, StatusForm};

pub(super) const DESCRIPTION: Description = Description {
    name: "ldp_vc",
    label: "ldp_vc",
    title: "W3C VC with Data Integrity",
    summary: "W3C VC with a Data Integrity proof: readable JSON, shown as a whole",
    profile: Profile::DataIntegrity,
    type_claims: &["type"],
    subject_claim: Some("credentialSubject"),
    discloses_selectively: false,
    binds_to_did: true,
    status: StatusForm::Member,
    // A proof names a verification method, which stands in the document of a DID.
    issuer_needs_did: true,
    undefined_terms: None,
    names_schema: true,
    is_for_machines: false,
};

/// The first context of a credential that is issued here (VCDM 2.0 §4.3).
pub const BASE_CONTEXT: &str = VcModel::V2.base_context();
/// The only type of proof (OpenID4VP 1.0 §B.1.3.2, `proof_type_values`).
pub const PROOF_TYPE: &str = "DataIntegrityProof";

/// Whether [`BASE_CONTEXT`] gives a term a meaning, which other contexts can't change.
#[must_use]
pub fn defines(term: &str) -> bool {
    Contexts::bundled().defines(BASE_CONTEXT, term)
}

/// The names of all suites, as metadata lists them (`cryptosuite_values`).
pub fn suite_names() -> impl Iterator<Item = &'static str> {
    Cryptosuite::ALL.into_iter().map(Cryptosuite::name)
}

/// The suites of keys with this algorithm, the preferred one first: what a canonical dataset says does not depend on how
/// it is written as JSON.
#[must_use]
pub const fn suites(algorithm: Algorithm) -> &'static [Cryptosuite] {
    match algorithm {
        Algorithm::EdDsa => &[Cryptosuite::EddsaRdfc2022, Cryptosuite::EddsaJcs2022],
        Algorithm::Es256 | Algorithm::Es384 => {
            &[Cryptosuite::EcdsaRdfc2019, Cryptosuite::EcdsaJcs2019]
        }
        _ => &[],
    }
}

/// The suite by which a key with this algorithm proves something to a party that accepts the suites of these names;
/// `None` for the names means any.
#[must_use]
pub fn suite_for(algorithm: Algorithm, accepted: Option<&[String]>) -> Option<Cryptosuite> {
    let is_accepted = |suite: &&Cryptosuite| {
        accepted.is_none_or(|names| names.iter().any(|name| name == suite.name()))
    };
    suites(algorithm).iter().find(is_accepted).copied()
}
