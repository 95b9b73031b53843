//! Presents a W3C credential with Data Integrity proofs: in a presentation with a proof by its holder (OpenID4VP 1.0
//! §B.1.3.2).

use selfsame_crypto::time::UnixTime;
use selfsame_data_integrity::vc::{VcModel, model_of};
use selfsame_data_integrity::{Contexts, Cryptosuite, ProofOptions, ProofPurpose, prepare};
use serde_json::{Map, Value, json};

use super::issue::{LdpError, key_type, signed};
use super::read::{document, only_credential};
use crate::evidence::{Evidence, Step};
use crate::signer::Signer;

/// The context of proofs in documents of VCDM 1.1.
const PROOFS: &str = "https://w3id.org/security/data-integrity/v2";

/// A presentation to make, and its verifier.
#[derive(Clone, Debug)]
pub struct LdpPresent<'a> {
    /// The credential, as its issuer signed it.
    pub credential: &'a str,
    /// The holder's DID, which the credential names as its subject.
    pub holder: &'a str,
    /// The verifier: its client identifier with the prefix. It is the `domain` of the proof.
    pub audience: &'a str,
    /// The verifier's nonce. It is the `challenge` of the proof.
    pub nonce: &'a str,
    /// The current time.
    pub issued_at: UnixTime,
    /// For how many seconds the presentation is valid.
    pub lifetime: u64,
    /// The suite, which must be one of the holder's key.
    pub suite: Cryptosuite,
    /// The holder's key; its `kid` is the verification method of the proof.
    pub signer: &'a Signer,
}

impl LdpPresent<'_> {
    /// The presentation if its signature is in the evidence, otherwise the need for the signature.
    ///
    /// # Errors
    /// [`LdpError`].
    pub fn step(&self, evidence: &Evidence) -> Result<Step<String>, LdpError> {
        let method = self.signer.kid.as_deref().ok_or(LdpError::Key)?;
        let domain = [self.audience];
        let options = ProofOptions {
            created: Some(self.issued_at),
            expires: Some(self.issued_at.plus(self.lifetime)),
            domain: &domain,
            challenge: Some(self.nonce),
            ..ProofOptions::new(self.suite, method, ProofPurpose::Authentication)
        };
        let unsigned = prepare(
            self.presentation()?,
            &options,
            key_type(self.signer.algorithm)?,
            &Contexts::known(),
        )?;
        signed(unsigned, self.signer, evidence)
    }

    /// The presentation has the data model of the credential, whose terms another one would define again.
    fn presentation(&self) -> Result<Map<String, Value>, LdpError> {
        let credential = document(self.credential).map_err(|_| LdpError::Unreadable)?;
        let model = credential.as_object().and_then(model_of);
        let model = model.ok_or(LdpError::Unreadable)?;
        let mut contexts = vec![model.base_context()];
        contexts.extend((model == VcModel::V1).then_some(PROOFS));
        let mut presentation = Map::new();
        let mut set = |name: &str, value: Value| presentation.insert(name.to_owned(), value);
        set("@context", json!(contexts));
        set("type", json!(["VerifiablePresentation"]));
        set("holder", json!(self.holder));
        set("verifiableCredential", json!([credential]));
        Ok(presentation)
    }
}

/// The credential in a presentation.
pub(super) fn bare(raw: &str) -> Option<String> {
    let document = document(raw).ok()?;
    only_credential(document.as_object()?).map(Value::to_string)
}
