//! Proofs that stand apart from their documents, whose authors hash them: canonical JSON without contexts, as logs of DID
//! documents have it.

use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PublicKey};
use serde_json::{Map, Value};

use crate::proof::{IntegrityProof, ProofOptions, proof_value};
use crate::suite::{Cryptosuite, SignedForm, SuiteDigest, SuiteParts};
use crate::{IntegrityError, jcs};

/// A proof that lacks its signature.
#[derive(Clone, Debug)]
pub struct DetachedProof {
    proof: Map<String, Value>,
    bytes: Vec<u8>,
}

impl DetachedProof {
    /// The proof by a key of this type of a document whose canonical JSON (RFC 8785) has this SHA-256.
    ///
    /// # Errors
    /// [`IntegrityError::Unsupported`] if the suite has no such keys, or does not hash canonical JSON by SHA-256.
    pub fn new(
        options: &ProofOptions<'_>,
        key: KeyType,
        document: &[u8; 32],
    ) -> Result<Self, IntegrityError> {
        parts(options.suite, key)?;
        let proof = options.members();
        let bytes = hash_data(&proof, document)?;
        Ok(Self { proof, bytes })
    }

    /// The bytes that the key must sign.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The proof with the signature, which is raw (r ‖ s), not DER.
    pub fn signed(mut self, signature: &[u8]) -> Value {
        let value = proof_value(signature);
        self.proof.insert("proofValue".to_owned(), value);
        self.proof.into()
    }
}

impl IntegrityProof {
    /// Reads a proof that stands apart from its document.
    ///
    /// # Errors
    /// [`IntegrityError::Malformed`] if a member is missing or malformed, or it has contexts, which such a document has
    /// not (EdDSA Cryptosuites §3.3.2).
    pub fn detached(value: &Value) -> Result<Self, IntegrityError> {
        match value.get("@context") {
            None => Self::of(value),
            Some(_) => Err(IntegrityError::Malformed("@context")),
        }
    }

    /// Verifies the signature over a document whose canonical JSON has this SHA-256.
    ///
    /// # Errors
    /// [`IntegrityError::Unsupported`] as [`DetachedProof::new`], [`IntegrityError::Malformed`] for a signature of another
    /// length, [`IntegrityError::Signature`].
    pub fn verify_detached(
        &self,
        document: &[u8; 32],
        key: &PublicKey,
    ) -> Result<(), IntegrityError> {
        let unknown = IntegrityError::Unsupported("the cryptosuite");
        let parts = parts(self.suite.ok_or(unknown)?, key.key_type())?;
        if self.value.len() != parts.signature_length {
            return Err(IntegrityError::Malformed("proofValue"));
        }
        let data = hash_data(&self.options(), document)?;
        key.verify(parts.algorithm, &data, &self.value)
            .map_err(|_| IntegrityError::Signature)
    }
}

fn parts(suite: Cryptosuite, key: KeyType) -> Result<SuiteParts, IntegrityError> {
    let parts = suite.parts(key)?;
    match (suite.form(), parts.digest) {
        (SignedForm::Json, SuiteDigest::Sha256) => Ok(parts),
        _ => Err(IntegrityError::Unsupported(
            "a detached proof of this suite",
        )),
    }
}

/// The hash of the options, then that of the document.
fn hash_data(options: &Map<String, Value>, document: &[u8; 32]) -> Result<Vec<u8>, IntegrityError> {
    let options = sha256(&jcs::object_bytes(options)?);
    Ok([options, *document].concat())
}
