//! Making a proof: what is to be signed, and the document once it is.

use selfsame_crypto::KeyType;
use serde_json::{Map, Value};

use crate::contexts::Contexts;
use crate::error::ChainError;
use crate::hash::{Hashed, hash_data};
use crate::proof::{IntegrityProof, ProofOptions, proof_value};
use crate::rdfc::RdfcBudget;
use crate::secured::{Secured, proofs_of};
use crate::suite::SignedForm;
use crate::{IntegrityError, PROOFS_MAX};

/// A document that lacks the signature of one proof.
#[derive(Clone, Debug)]
pub struct UnsignedProof {
    document: Map<String, Value>,
    /// The proofs that it has already.
    proofs: Vec<Value>,
    proof: Map<String, Value>,
    bytes: Vec<u8>,
    signature_length: usize,
}

/// Prepares a proof of a document, by a key of this type. Proofs that the document has already stay (Data Integrity
/// §4.3).
///
/// # Errors
/// [`IntegrityError::Unsupported`] if the suite has no such keys, [`IntegrityError::Chain`] if a previous proof is
/// missing, [`IntegrityError::TooMany`] beyond [`PROOFS_MAX`], and what keeps the document from being transformed.
pub fn prepare(
    document: Map<String, Value>,
    options: &ProofOptions<'_>,
    key: KeyType,
    contexts: &Contexts,
) -> Result<UnsignedProof, IntegrityError> {
    let parts = options.suite.parts(key)?;
    let mut document = document;
    let there = proofs_of(document.remove("proof").as_ref())?;
    if there.len() >= PROOFS_MAX {
        return Err(IntegrityError::TooMany("proof"));
    }
    let before = before(&there, options.previous)?;
    let mut proof = options.members();
    if let Some(context) = document.get("@context") {
        proof.insert("@context".to_owned(), context.clone());
    }
    let mut signed = document.clone();
    if !before.is_empty() {
        signed.insert("proof".to_owned(), before.into());
    }
    let hashed = Hashed {
        document: &signed,
        options: &proof,
        contexts,
        budget: &mut RdfcBudget::new(),
    };
    let bytes = hash_data(hashed, options.suite, &parts)?;
    match options.suite.form() {
        // It stays in the proof (EdDSA Cryptosuites §3.3.1, step 2).
        SignedForm::Json => {}
        // It is for the hash alone (§3.2.5, step 5).
        SignedForm::Dataset => drop(proof.remove("@context")),
    }
    Ok(UnsignedProof {
        document,
        proofs: there.into_iter().map(|one| one.members.into()).collect(),
        proof,
        bytes,
        signature_length: parts.signature_length,
    })
}

impl UnsignedProof {
    /// The bytes that the key must sign.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The document with the signature, which is raw (r ‖ s), not DER.
    ///
    /// # Errors
    /// [`IntegrityError::Malformed`] if the signature has another length, [`IntegrityError::Chain`] if the document
    /// has a proof of this identifier already.
    pub fn signed(self, signature: &[u8]) -> Result<Map<String, Value>, IntegrityError> {
        if signature.len() != self.signature_length {
            return Err(IntegrityError::Malformed("proofValue"));
        }
        let Self {
            mut document,
            mut proofs,
            mut proof,
            ..
        } = self;
        proof.insert("proofValue".to_owned(), proof_value(signature));
        proofs.push(proof.into());
        let value = match <[Value; 1]>::try_from(proofs) {
            Ok([one]) => one,
            Err(several) => several.into(),
        };
        document.insert("proof".to_owned(), value);
        // What is given out can be read again.
        Secured::of(document.clone().into())?;
        Ok(document)
    }
}

/// The proofs that a new one builds on, in the document's order.
fn before(there: &[IntegrityProof], previous: &[&str]) -> Result<Vec<Value>, IntegrityError> {
    let is_there = |name: &&str| there.iter().any(|one| one.id.as_deref() == Some(*name));
    if !previous.iter().all(is_there) {
        return Err(IntegrityError::Chain(ChainError::Dangling));
    }
    let named = |one: &&IntegrityProof| one.id.as_deref().is_some_and(|id| previous.contains(&id));
    let members = there.iter().filter(named).map(|one| &one.members);
    Ok(members.cloned().map(Value::Object).collect())
}
