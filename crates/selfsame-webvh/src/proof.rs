//! The proofs of a log: Data Integrity with the cryptosuite `eddsa-jcs-2022`, by a did:key (did:webvh v1.0, "Data Integrity
//! Proof Generation and First Log Entry").

use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_data_integrity::{
    Cryptosuite, DetachedProof, IntegrityError, IntegrityProof, ProofOptions, ProofPurpose,
};
use selfsame_did::{Did, DidUrl};
use serde_json::Value;

use crate::fault::ProofFault;
use crate::parameters::ed25519_of;

const TYPE: &str = "DataIntegrityProof";
const SUITE: Cryptosuite = Cryptosuite::EddsaJcs2022;
const PURPOSE: ProofPurpose = ProofPurpose::AssertionMethod;

/// A proof whose members are checked, and whose signature is not yet.
pub(crate) struct LogProof {
    /// The did:key of the signer.
    pub signer: Did,
    key: PublicKey,
    proof: IntegrityProof,
}

impl LogProof {
    pub fn read(value: &Value) -> Result<Self, ProofFault> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        if !value.is_object() {
            return Err(ProofFault::Form("form"));
        }
        if text("type") != Some(TYPE) {
            return Err(ProofFault::Form("type"));
        }
        if text("cryptosuite") != Some(SUITE.name()) {
            return Err(ProofFault::Suite);
        }
        // Multibase allows other encodings, and the suite does not (EdDSA Cryptosuites §3.3.1).
        if text("proofValue").is_none_or(|text| !text.starts_with('z')) {
            return Err(ProofFault::Form("proofValue"));
        }
        let proof = IntegrityProof::detached(value).map_err(|error| fault(&error))?;
        if proof.purpose != PURPOSE.as_str() {
            return Err(ProofFault::Purpose);
        }
        let (signer, key) = signer(&proof.method).ok_or(ProofFault::Method)?;
        Ok(Self { signer, key, proof })
    }

    /// The multikey of the signer.
    pub fn multikey(&self) -> &str {
        self.signer.method_id()
    }

    /// Verifies the signature over a document with this hash.
    pub fn verify(&self, document: &[u8; 32], now: UnixTime) -> Result<(), ProofFault> {
        if self.proof.expires.is_some_and(|expires| expires <= now) {
            return Err(ProofFault::Expired);
        }
        let verified = self.proof.verify_detached(document, &self.key);
        verified.map_err(|error| fault(&error))
    }
}

/// The proof, without its signature, that this key makes at this time for a document with this hash.
pub(crate) fn unsigned(
    key: &PublicKey,
    created: UnixTime,
    document: &[u8; 32],
) -> Result<DetachedProof, IntegrityError> {
    let method = format!("{}#{}", selfsame_did::key::create(key), key.to_multikey());
    let options = ProofOptions {
        created: Some(created),
        ..ProofOptions::new(SUITE, &method, PURPOSE)
    };
    DetachedProof::new(&options, key.key_type(), document)
}

fn fault(error: &IntegrityError) -> ProofFault {
    match error {
        IntegrityError::Malformed(name) | IntegrityError::TooMany(name) => ProofFault::Form(name),
        IntegrityError::Signature => ProofFault::Signature,
        _ => ProofFault::Form("form"),
    }
}

/// The did:key and the key of a verification method. Its fragment is its key (did:webvh v1.0, "Witness DIDs and
/// Reputation"), so nobody signs in the name of another key.
fn signer(method: &str) -> Option<(Did, PublicKey)> {
    let url = DidUrl::parse(method).ok()?;
    let is_bare = url.path.is_empty() && url.query.is_none();
    let is_own = url.fragment.as_deref() == Some(url.did.method_id());
    let key = ed25519_of(&url.did).filter(|_| is_bare && is_own)?;
    Some((url.did, key))
}
