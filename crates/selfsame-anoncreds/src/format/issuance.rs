//! The messages before the credential, offer and request, and the metadata that the holder keeps in between.

use std::fmt;

use selfsame_crypto::SecretString;
use serde::{Deserialize, Serialize};

use super::identifier::{CredentialDefinitionId, SchemaId, is_legacy_did, is_uri};
use super::message::Message;
use super::nonce::Nonce;
use super::schema::check_text;
use crate::Error;
use crate::cl::{
    BlindedCredentialSecrets, BlindedSecretsCorrectnessProof, BlindingFactors, KeyCorrectnessProof,
};

/// An offer of a credential (AnonCreds v1.0, "Credential Offer").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialOffer {
    /// The schema.
    pub schema_id: SchemaId,
    /// The definition.
    pub cred_def_id: CredentialDefinitionId,
    /// The proof that the definition's key is well formed.
    pub key_correctness_proof: KeyCorrectnessProof,
    /// The nonce that the request must answer.
    pub nonce: Nonce,
    /// The name of a method. It has no use, and is kept as received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method_name: Option<String>,
}

impl Message for CredentialOffer {
    type Text = String;
    const WHAT: &'static str = "the credential offer";

    fn validate(&self) -> Result<(), Error> {
        check_text(
            self.method_name.as_deref().unwrap_or_default(),
            "a method's name",
        )
    }
}

/// A request for the credential offered (AnonCreds v1.0, "Credential Request").
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialRequest {
    /// A text by which the issuer can distinguish this holder's credentials; the current form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<String>,
    /// The holder's DID, which Indy used instead of the entropy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prover_did: Option<String>,
    /// The definition.
    pub cred_def_id: CredentialDefinitionId,
    /// The link secret, blinded.
    pub blinded_ms: BlindedCredentialSecrets,
    /// The proof that the holder knows the blinded values.
    pub blinded_ms_correctness_proof: BlindedSecretsCorrectnessProof,
    /// The nonce that the credential must answer.
    pub nonce: Nonce,
}

impl CredentialRequest {
    /// The holder's identifier or entropy, which enters the credential's context.
    pub fn holder(&self) -> Result<&str, Error> {
        let text = self.entropy.as_deref().or(self.prover_did.as_deref());
        text.ok_or(Error::Malformed {
            what: Self::WHAT,
            why: "it has neither entropy nor a prover's DID",
        })
    }
}

impl Message for CredentialRequest {
    type Text = String;
    const WHAT: &'static str = "the credential request";

    fn validate(&self) -> Result<(), Error> {
        if self.entropy.is_some() && self.prover_did.is_some() {
            return Err(Error::Malformed {
                what: Self::WHAT,
                why: "it has both entropy and a prover's DID",
            });
        }
        check_text(self.holder()?, "the holder's entropy or DID")
    }
}

/// How the holder identifies itself in a request: a text by which the issuer can distinguish this holder's credentials.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Holder<'a> {
    /// Any text, preferably random.
    Entropy(&'a str),
    /// A DID, where the credential definition has a legacy identifier.
    Did(&'a str),
}

impl Holder<'_> {
    /// Refuses a malformed DID, and a DID where entropy is required (as the published implementations do).
    pub(crate) fn check(&self, definition: &CredentialDefinitionId) -> Result<(), Error> {
        let malformed = |why| {
            Err(Error::Malformed {
                what: CredentialRequest::WHAT,
                why,
            })
        };
        match self {
            Self::Entropy(_) => Ok(()),
            Self::Did(_) if !definition.is_legacy() => {
                malformed("a definition with a qualified identifier asks for entropy, not a DID")
            }
            Self::Did(did) if !is_uri(did) && !is_legacy_did(did) => {
                malformed("the prover's DID is not a DID")
            }
            Self::Did(_) => Ok(()),
        }
    }
}

/// The metadata that the holder keeps between request and credential: secret. The names of Indy's time are read too.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialRequestMetadata {
    /// The factors that the link secret was blinded with.
    #[serde(alias = "master_secret_blinding_data")]
    pub link_secret_blinding_data: BlindingFactors,
    /// The request's nonce.
    pub nonce: Nonce,
    /// The name of the link secret.
    #[serde(alias = "master_secret_name")]
    pub link_secret_name: String,
}

impl Message for CredentialRequestMetadata {
    type Text = SecretString;
    const WHAT: &'static str = "the credential request's metadata";

    fn validate(&self) -> Result<(), Error> {
        check_text(&self.link_secret_name, "the link secret's name")
    }
}

impl fmt::Debug for CredentialRequestMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialRequestMetadata(…)")
    }
}
