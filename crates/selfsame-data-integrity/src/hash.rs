//! The bytes that a proof signs.

use serde_json::{Map, Value};

use crate::contexts::Contexts;
use crate::rdfc::{self, RdfcBudget};
use crate::suite::{Cryptosuite, SignedForm, SuiteDigest, SuiteParts};
use crate::{IntegrityError, expand, jcs};

/// What is hashed: a document, with the proofs that a proof builds on as its `proof`, and the options of the proof.
pub(crate) struct Hashed<'a> {
    pub document: &'a Map<String, Value>,
    pub options: &'a Map<String, Value>,
    pub contexts: &'a Contexts,
    /// What is left of the work on datasets.
    pub budget: &'a mut RdfcBudget,
}

/// The hash of the options, then that of the document (EdDSA Cryptosuites §3.3.4, ECDSA Cryptosuites §3.3.4).
pub(crate) fn hash_data(
    hashed: Hashed<'_>,
    suite: Cryptosuite,
    parts: &SuiteParts,
) -> Result<Vec<u8>, IntegrityError> {
    let Hashed {
        document,
        options,
        contexts,
        budget,
    } = hashed;
    let mut data = Vec::with_capacity(96);
    for members in [options, document] {
        let bytes = match suite.form() {
            SignedForm::Json => jcs::object_bytes(members)?,
            SignedForm::Dataset => canonical_dataset(members, contexts, parts.digest, budget)?,
        };
        data.extend(parts.digest.of(&bytes));
    }
    Ok(data)
}

/// The canonical lines of a document or of a proof's options. P-384 has SHA-384 in here too (ECDSA Cryptosuites
/// §3.2.3).
pub(crate) fn canonical_dataset(
    members: &Map<String, Value>,
    contexts: &Contexts,
    digest: SuiteDigest,
    budget: &mut RdfcBudget,
) -> Result<Vec<u8>, IntegrityError> {
    let dataset = expand::dataset(members, contexts)?;
    rdfc::canonical_within(&dataset, digest, budget).map(String::into_bytes)
}
