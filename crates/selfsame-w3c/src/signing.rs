//! Signs a document in the name of the organisation.

use selfsame_core::identity::{Identity, kid_of};
use selfsame_credential::format::ldp_vc::suites;
use selfsame_data_integrity::vc::VcModel;
use selfsame_data_integrity::{
    Contexts, Cryptosuite, IntegrityError, ProofOptions, ProofPurpose, check_dataset, prepare,
};
use selfsame_driver::Error;
use serde_json::{Map, Value};

use crate::W3cDesk;
use crate::problem::{VcProblem, W3cError, code};

/// The contexts of proofs, of which a document of VCDM 1.1 needs one.
const OF_PROOFS: [&str; 2] = [
    "https://w3id.org/security/data-integrity/v2",
    "https://w3id.org/security/data-integrity/v1",
];

/// A DID of the organisation, and the key that signs in its name.
pub(crate) struct OwnSigner<'a> {
    identity: &'a Identity,
    /// The URL of the key.
    pub method: String,
}

/// What a proof is made with, beside its key.
#[derive(Debug)]
pub(crate) struct WantedProof {
    /// The suite; by default the preferred one of the key.
    pub suite: Option<Cryptosuite>,
    pub purpose: ProofPurpose,
    pub challenge: Option<String>,
    pub domain: Option<String>,
}

impl<'a> OwnSigner<'a> {
    /// The signer of this DID; `None` if it is not one of the identity.
    pub fn of(identity: &'a Identity, did: &str) -> Option<Self> {
        if identity.did().as_str() == did {
            let method = identity.kid().to_owned();
            return Some(Self { identity, method });
        }
        let portable = identity.portable().filter(|one| one.as_str() == did)?;
        let method = kid_of(portable);
        Some(Self { identity, method })
    }
}

impl W3cDesk {
    /// The document with a proof of the organisation.
    pub(crate) async fn signed(
        &self,
        document: Map<String, Value>,
        signer: &OwnSigner<'_>,
        wanted: WantedProof,
    ) -> Result<Map<String, Value>, W3cError> {
        let identity = signer.identity;
        let preferred = suites(identity.algorithm()).first().copied();
        let suite = wanted.suite.or(preferred);
        let suite = suite.ok_or_else(|| Error::internal("a key has a suite"))?;
        let (method, key) = (signer.method.clone(), identity.public().key_type());
        let now = self.shared.clock.now();
        // Canonical JSON signs what has no meaning in the contexts too.
        let is_unread = wanted.purpose == ProofPurpose::AssertionMethod && signs_json(suite);
        // Datasets can be made that are hard to put into canonical form.
        let prepared = self.shared.reading.run(move || {
            let contexts = Contexts::known();
            if is_unread {
                check_dataset(&document, &contexts)?;
            }
            let domain: Vec<&str> = wanted.domain.as_deref().into_iter().collect();
            let options = ProofOptions {
                created: Some(now),
                domain: &domain,
                challenge: wanted.challenge.as_deref(),
                ..ProofOptions::new(suite, &method, wanted.purpose)
            };
            prepare(document, &options, key, &contexts)
        });
        let unsigned = prepared.await?.map_err(|error| unsignable(&error))?;
        let keys = &self.shared.keys;
        let signing = keys.sign(identity.tenant(), identity.key(), unsigned.bytes());
        let signature = signing.await?;
        let signed = unsigned.signed(&signature);
        Ok(signed.map_err(|error| unsignable(&error))?)
    }
}

/// Gives a document of VCDM 1.1 the context of proofs, if it has none: without it a proof in it means nothing. The newer
/// model has it among its own.
pub(crate) fn with_proof_context(document: &mut Map<String, Value>, model: VcModel) {
    with_context(document, model, &OF_PROOFS);
}

/// Adds the first of these contexts to a document of VCDM 1.1 that has none of them.
pub(crate) fn with_context(document: &mut Map<String, Value>, model: VcModel, any: &[&str]) {
    let Some(wanted) = any.first().filter(|_| model == VcModel::V1) else {
        return;
    };
    let Some(context) = document.get_mut("@context") else {
        return;
    };
    if let Value::String(only) = context {
        *context = vec![only.clone()].into();
    }
    if let Value::Array(several) = context {
        let is_there = |one: &Value| any.iter().any(|known| one == known);
        if !several.iter().any(is_there) {
            several.push((*wanted).into());
        }
    }
}

/// Whether a suite signs canonical JSON, and not a dataset.
const fn signs_json(suite: Cryptosuite) -> bool {
    match suite {
        Cryptosuite::EddsaJcs2022 | Cryptosuite::EcdsaJcs2019 => true,
        Cryptosuite::EddsaRdfc2022 | Cryptosuite::EcdsaRdfc2019 => false,
    }
}

fn unsignable(error: &IntegrityError) -> VcProblem {
    match error {
        IntegrityError::Unsupported(_)
        | IntegrityError::TooMany(_)
        | IntegrityError::Chain(_)
        | IntegrityError::Signature => VcProblem::new(code::PROOF_GENERATION, error.to_string()),
        _ => VcProblem::from(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_of_the_older_model_gets_the_context_of_proofs_once() {
        let v1 = VcModel::V1.base_context();
        for (before, after) in [
            (json!(v1), json!([v1, OF_PROOFS[0]])),
            (json!([v1]), json!([v1, OF_PROOFS[0]])),
            (json!([v1, OF_PROOFS[1]]), json!([v1, OF_PROOFS[1]])),
        ] {
            let mut document = Map::from_iter([("@context".to_owned(), before)]);
            with_proof_context(&mut document, VcModel::V1);
            assert_eq!(document["@context"], after);
        }
        let mut newer = Map::from_iter([("@context".to_owned(), json!("a"))]);
        with_proof_context(&mut newer, VcModel::V2);
        assert_eq!(newer["@context"], "a");
    }
}
