//! The attachments of an issuing (RFC 0511).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a holder proposes, and what a controller offers: "the minimal form of the Issuer's credential manifest". The
/// members beside those of RFC 0511 are this agent's own.
#[derive(Deserialize)]
pub struct ManifestTerms {
    /// The credential.
    pub credential: WantedType,
    /// The credential's format; by default the first that the issuer has.
    pub format: Option<String>,
    /// The claims.
    #[serde(default)]
    pub claims: Map<String, Value>,
    /// Whether absent claims take the type's examples.
    #[serde(default)]
    pub examples: bool,
}

/// The type of a credential.
#[derive(Deserialize, Serialize)]
pub struct WantedType {
    /// The id of a type of the issuer's organisation.
    pub schema: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The attachment of an offer: "All three attributes are REQUIRED".
#[derive(Deserialize, Serialize)]
pub struct OfferedManifest {
    /// What the holder signs.
    pub challenge: String,
    /// Whom it signs that for.
    pub domain: String,
    /// What is offered.
    pub credential_manifest: CredentialManifest,
}

/// A credential manifest.
#[derive(Deserialize, Serialize)]
pub struct CredentialManifest {
    /// The issuer's DID.
    pub issuer: String,
    /// The credential.
    pub credential: WantedType,
    /// The credential's format.
    pub format: String,
}

/// The attachment of a request: the proof of the key that the credential is to be bound to, as in OpenID4VCI 1.0 §8.2.1.
#[derive(Deserialize, Serialize)]
pub struct ManifestRequest {
    /// The proof.
    pub proof: KeyProof,
}

/// A proof of a key.
#[derive(Deserialize, Serialize)]
pub struct KeyProof {
    /// A JWT over challenge and domain of the offer.
    pub jwt: String,
}
