//! Credential issuer metadata (OpenID4VCI 1.0 §12.2).

use std::collections::{BTreeMap, BTreeSet};

use selfsame_credential::{ClaimPath, Format, format::Profile, path::Segment};
use selfsame_crypto::json;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use url::Url;

use selfsame_openid4vc_messages::planned_encryption::PlannedEncryption;
pub use selfsame_openid4vc_messages::planned_encryption::{RequestEncryption, ResponseEncryption};

/// The name of the metadata document below `/.well-known/`.
pub const WELL_KNOWN: &str = "openid-credential-issuer";
/// The only proof type that we create and accept.
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

/// The requirements for a proof.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ProofType {
    /// The accepted algorithms.
    pub proof_signing_alg_values_supported: Vec<Value>,
    /// The requirements for a key attestation; absent if none is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_attestations_required: Option<Value>,
}

/// The types of a W3C credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialDefinition {
    /// The types.
    #[serde(rename = "type")]
    pub types: Vec<String>,
}

/// Display metadata of a credential.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialMetadata {
    /// The credential's name and appearance, one entry per language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
    /// The claims, in display order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimDescription>,
}

/// The display of an issuer, a credential or a claim in one language.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Display {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The language tag (BCP 47).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// A longer description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<Image>,
    /// The background colour, in CSS notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_color: Option<String>,
    /// A background image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_image: Option<Image>,
    /// The text colour, in CSS notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_color: Option<String>,
}

/// An image.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Image {
    /// The URI: `https:`, `data:` or another scheme.
    pub uri: String,
    /// A text alternative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<String>,
}

/// Display metadata of a claim.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClaimDescription {
    /// The path of the claim.
    pub path: ClaimPath,
    /// Whether the credential always has this claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mandatory: bool,
    /// The claim's names, one per language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
    /// The values that the claim can have, with their names. It is our own addition: the specification has no member for
    /// it, and wallets ignore the members that they do not know (§12.2.4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueDescription>,
}

/// Display metadata of a value of a claim.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ValueDescription {
    /// The value.
    pub value: String,
    /// Its names, one per language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
}

impl Display {
    /// The one among these in the language of our pages, which is English, or else the first.
    #[must_use]
    pub fn read(all: &[Self]) -> Option<&Self> {
        let is_english = |one: &&Self| {
            let locale = one.locale.as_deref().unwrap_or_default();
            let language = locale.split('-').next().unwrap_or_default();
            language.eq_ignore_ascii_case("en")
        };
        all.iter().find(is_english).or_else(|| all.first())
    }
}

/// An error in issuer metadata.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MetadataProblem {
    /// The identifier is not a URL, or has a query or fragment.
    #[error("the credential issuer identifier is not a URL without query and fragment")]
    Identifier,
    /// The list of authorization servers is empty.
    #[error("authorization_servers is empty")]
    Servers,
    /// The batch size is less than two.
    #[error("batch_size is below 2")]
    BatchSize,
    /// There are two display entries for one language.
    #[error("display has two entries for one language")]
    Languages,
    /// Binding methods are given without proof types, or proof types without binding methods.
    #[error("binding methods and proof types must both be present or both be absent")]
    Binding,
    /// A list is empty that must not be.
    #[error("a list of algorithms, methods or types is empty")]
    EmptyList,
    /// The format requires `vct` or `credential_definition`, and it is missing.
    #[error("the credential's type is missing")]
    Type,
    /// Two descriptions are for one claim, or contradict each other.
    #[error("the descriptions of the claims repeat or contradict each other")]
    Claims,
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

    fn check_type(&self) -> Result<(), MetadataProblem> {
        let present = match self.known_format().map(|format| format.describe().profile) {
            Some(Profile::Mdoc) => self.doctype.as_ref().is_some_and(|one| !one.is_empty()),
            Some(Profile::SdJwtVc) => self.vct.as_ref().is_some_and(|vct| !vct.is_empty()),
            Some(Profile::W3c | Profile::Compact) => self
                .credential_definition
                .as_ref()
                .is_some_and(|definition| !definition.types.is_empty()),
            None => true,
        };
        if present {
            Ok(())
        } else {
            Err(MetadataProblem::Type)
        }
    }
}

// At most one object is allowed per language.
fn check_languages(display: &[Display]) -> Result<(), MetadataProblem> {
    let mut seen = BTreeSet::new();
    let mut locales = display.iter().filter_map(|entry| entry.locale.as_deref());
    if locales.all(|locale| seen.insert(locale.to_ascii_lowercase())) {
        Ok(())
    } else {
        Err(MetadataProblem::Languages)
    }
}

// OpenID4VCI 1.0 Appendix B.3: one description per claim; all steps below a claim must be of one kind.
fn check_claims(claims: &[ClaimDescription]) -> Result<(), MetadataProblem> {
    let mut paths = BTreeSet::new();
    let mut kinds: BTreeMap<&[Segment], MetadataKind> = BTreeMap::new();
    for claim in claims {
        check_languages(&claim.display)?;
        if !paths.insert(&claim.path) {
            return Err(MetadataProblem::Claims);
        }
        let segments = claim.path.segments();
        for (depth, segment) in segments.iter().enumerate() {
            let above = segments.get(..depth).unwrap_or_default();
            let kind = MetadataKind::of(segment);
            if *kinds.entry(above).or_insert(kind) != kind {
                return Err(MetadataProblem::Claims);
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum MetadataKind {
    Member,
    Element,
    Elements,
}

impl MetadataKind {
    fn of(segment: &Segment) -> Self {
        match segment {
            Segment::Name(_) => Self::Member,
            Segment::Index(_) => Self::Element,
            Segment::All => Self::Elements,
        }
    }
}
