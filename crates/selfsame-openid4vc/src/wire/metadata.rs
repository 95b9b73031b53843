//! Credential issuer metadata (OpenID4VCI 1.0 §12.2).

use std::collections::BTreeMap;

use selfsame_credential::{Format, format::Profile};
use selfsame_crypto::json;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use url::Url;

pub use selfsame_openid4vc_messages::credential_metadata::{
    ClaimDescription, CredentialDefinition, CredentialMetadata, Display, Image, MetadataProblem,
    ProofType, ValueDescription,
};
use selfsame_openid4vc_messages::credential_metadata::{check_claims, check_languages};
use selfsame_openid4vc_messages::planned_encryption::PlannedEncryption;
pub use selfsame_openid4vc_messages::planned_encryption::{RequestEncryption, ResponseEncryption};

/// The name of the metadata document below `/.well-known/`.
pub const WELL_KNOWN: &str = "openid-credential-issuer";
/// The proof type that we create.
pub const JWT: &str = "jwt";
/// The binding methods of a bare key (§12.2.4): as a JWK, and as a COSE key, as in an mdoc.
pub const JWK: &str = "jwk";
/// See [`JWK`].
pub const COSE_KEY: &str = "cose_key";

/// Metadata of a credential issuer. Members we do not use are ignored.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct IssuerMetadata {
    /// The issuer's identifier.
    pub credential_issuer: String,
    /// Its authorization servers; `None` if the issuer is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_servers: Option<Vec<String>>,
    /// The credential endpoint.
    pub credential_endpoint: Url,
    /// The nonce endpoint; `None` if proofs need no nonce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce_endpoint: Option<Url>,
    /// The deferred credential endpoint; `None` if the issuer issues at once or not at all (§9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_credential_endpoint: Option<Url>,
    /// The notification endpoint, if wallets are to say what became of credentials (§11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_endpoint: Option<Url>,
    /// How credential requests can or must be encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_request_encryption: Option<Box<RequestEncryption>>,
    /// How credential responses can or must be encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_response_encryption: Option<Box<ResponseEncryption>>,
    /// The limits of a batch; if absent, a request may have one proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_credential_issuance: Option<Batch>,
    /// The issuer's name and appearance, one entry per language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
    /// The credential configurations by identifier.
    pub credential_configurations_supported: BTreeMap<String, ConfigurationEntry>,
}

/// The limits of a batch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Batch {
    /// Maximum number of proofs in one request; at least 2.
    pub batch_size: u32,
}

/// One of the issuer's credential configurations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ConfigurationEntry {
    /// A configuration that we can read.
    Known(Box<Configuration>),
    /// A configuration in an unknown form. It is ignored unless it is requested.
    Foreign(Value),
}

impl<'de> Deserialize<'de> for ConfigurationEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let known = json::value_as(value.clone());
        Ok(known.map_or(Self::Foreign(value), Self::Known))
    }
}

/// A credential that the issuer offers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Configuration {
    /// The format identifier.
    pub format: String,
    /// The OAuth scope for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The signature algorithms that the issuer uses: JOSE names, or COSE numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_signing_alg_values_supported: Option<Vec<Value>>,
    /// The binding methods: `jwk`, `cose_key`, or `did:` with a method name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptographic_binding_methods_supported: Option<Vec<String>>,
    /// The proof types that the issuer accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_types_supported: Option<BTreeMap<String, ProofType>>,
    /// The document type of an mdoc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doctype: Option<String>,
    /// The type (`vct`) of an SD-JWT VC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vct: Option<String>,
    /// The types of a W3C credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_definition: Option<CredentialDefinition>,
    /// Display metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_metadata: Option<CredentialMetadata>,
    /// The DID that signs compact credentials, which do not name it: our own addition, as the format is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
}

impl IssuerMetadata {
    /// How requests to this issuer are encrypted, and responses.
    pub(crate) fn encryption(&self) -> Result<Option<PlannedEncryption>, &'static str> {
        PlannedEncryption::of(
            self.credential_request_encryption.as_deref(),
            self.credential_response_encryption.as_deref(),
        )
    }

    /// The configuration with this identifier, if it can be read.
    pub fn configuration(&self, id: &str) -> Option<&Configuration> {
        match self.credential_configurations_supported.get(id)? {
            ConfigurationEntry::Known(configuration) => Some(configuration),
            ConfigurationEntry::Foreign(_) => None,
        }
    }

    /// Maximum number of proofs in one request.
    pub fn batch_size(&self) -> usize {
        self.batch_credential_issuance
            .and_then(|batch| usize::try_from(batch.batch_size).ok())
            .unwrap_or(1)
    }

    /// Checks the rules for the issuer's own members that the types cannot express.
    pub fn check(&self) -> Result<(), MetadataProblem> {
        if selfsame_oauth::metadata::well_known(&self.credential_issuer, WELL_KNOWN).is_none() {
            return Err(MetadataProblem::Identifier);
        }
        if self
            .authorization_servers
            .as_ref()
            .is_some_and(Vec::is_empty)
        {
            return Err(MetadataProblem::Servers);
        }
        if self
            .batch_credential_issuance
            .is_some_and(|batch| batch.batch_size < 2)
        {
            return Err(MetadataProblem::BatchSize);
        }
        check_languages(&self.display)
    }
}

impl Configuration {
    /// The format, if it is one that we support.
    pub fn known_format(&self) -> Option<Format> {
        self.format.parse().ok()
    }

    /// The requirements for a `jwt` proof.
    pub fn jwt_proof(&self) -> Option<&ProofType> {
        self.proof_types_supported.as_ref()?.get(JWT)
    }

    /// Checks the rules for one configuration that the types cannot express.
    pub fn check(&self) -> Result<(), MetadataProblem> {
        // §12.2.4: both are present, or neither.
        if self.cryptographic_binding_methods_supported.is_some()
            != self.proof_types_supported.is_some()
        {
            return Err(MetadataProblem::Binding);
        }
        let empty_algorithms = self
            .proof_types_supported
            .iter()
            .flat_map(BTreeMap::values)
            .any(|proof| proof.proof_signing_alg_values_supported.is_empty());
        let empty = |list: &Option<Vec<Value>>| list.as_ref().is_some_and(Vec::is_empty);
        if empty_algorithms
            || empty(&self.credential_signing_alg_values_supported)
            || self
                .cryptographic_binding_methods_supported
                .as_ref()
                .is_some_and(Vec::is_empty)
        {
            return Err(MetadataProblem::EmptyList);
        }
        self.check_type()?;
        let Some(metadata) = &self.credential_metadata else {
            return Ok(());
        };
        check_languages(&metadata.display)?;
        check_claims(&metadata.claims)
    }

    /// The definition of a W3C credential, with its types.
    fn definition(&self) -> Option<&CredentialDefinition> {
        let definition = self.credential_definition.as_ref();
        definition.filter(|definition| !definition.types.is_empty())
    }

    fn check_type(&self) -> Result<(), MetadataProblem> {
        let present = match self.known_format().map(|format| format.describe().profile) {
            Some(Profile::Mdoc) => self.doctype.as_ref().is_some_and(|one| !one.is_empty()),
            Some(Profile::SdJwtVc) => self.vct.as_ref().is_some_and(|vct| !vct.is_empty()),
            Some(Profile::W3c | Profile::Compact) => self.definition().is_some(),
            // §A.1.2: its contexts too.
            Some(Profile::DataIntegrity) => self
                .definition()
                .and_then(|definition| definition.contexts.as_ref())
                .is_some_and(|contexts| !contexts.is_empty()),
            None => true,
        };
        if present {
            Ok(())
        } else {
            Err(MetadataProblem::Type)
        }
    }
}
