//! Credential issuer metadata (OpenID4VCI 1.0 §12.2).

use std::collections::{BTreeMap, BTreeSet};

use selfsame_credential::{ClaimPath, Format, path::Segment};
use selfsame_crypto::json;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use url::Url;

/// The name of the well-known document.
pub const WELL_KNOWN: &str = "openid-credential-issuer";
/// The one proof type we make and take.
pub const JWT: &str = "jwt";

/// What a credential issuer says of itself. Members we do not use are ignored.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct IssuerMetadata {
    /// The issuer's identifier.
    pub credential_issuer: String,
    /// Its authorization servers; none where it is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_servers: Option<Vec<String>>,
    /// Where credentials are had.
    pub credential_endpoint: Url,
    /// Where nonces are had; none where proofs need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce_endpoint: Option<Url>,
    /// Whether requests can or must be encrypted.
    #[serde(default, skip_serializing)]
    pub credential_request_encryption: Option<Encryption>,
    /// Whether responses can or must be encrypted.
    #[serde(default, skip_serializing)]
    pub credential_response_encryption: Option<Encryption>,
    /// How many proofs one request may have; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_credential_issuance: Option<Batch>,
    /// What to call the issuer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
    /// The credentials there are.
    pub credential_configurations_supported: BTreeMap<String, Entry>,
}

/// The part of the encryption parameters that a wallet without encryption must know.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Encryption {
    /// Whether the issuer insists.
    pub encryption_required: bool,
}

/// The limits of a batch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Batch {
    /// The most proofs in one request; at least 2.
    pub batch_size: u32,
}

/// One of the issuer's credential configurations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// One that can be read.
    Known(Box<Configuration>),
    /// One of a form we do not know; it hinders nobody who does not want it.
    Foreign(Value),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let known = json::value_as(value.clone());
        Ok(known.map_or(Self::Foreign(value), Self::Known))
    }
}

/// A credential that can be had.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Configuration {
    /// The format's identifier.
    pub format: String,
    /// The scope that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// How the issuer signs it: JOSE names, or COSE numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_signing_alg_values_supported: Option<Vec<Value>>,
    /// What it can be bound to: `jwk`, or `did:` with a method's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptographic_binding_methods_supported: Option<Vec<String>>,
    /// The proofs that are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_types_supported: Option<BTreeMap<String, ProofType>>,
    /// The type of an SD-JWT VC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vct: Option<String>,
    /// The type of a W3C credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_definition: Option<CredentialDefinition>,
    /// How to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_metadata: Option<CredentialMetadata>,
}

/// What is asked of a proof.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ProofType {
    /// The algorithms.
    pub proof_signing_alg_values_supported: Vec<Value>,
    /// What a key attestation must say; absent where none is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_attestations_required: Option<Value>,
}

/// The type of a W3C credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialDefinition {
    /// Its types.
    #[serde(rename = "type")]
    pub types: Vec<String>,
}

/// How to show a credential.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialMetadata {
    /// Its names, one per language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
    /// Its claims, in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimDescription>,
}

/// How to show an issuer, a credential or a claim in one language.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Display {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The language (BCP 47).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// More words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<Image>,
    /// A colour, as CSS writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_color: Option<String>,
    /// A picture behind the words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_image: Option<Image>,
    /// A colour, as CSS writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_color: Option<String>,
}

/// A picture.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Image {
    /// Where it is: `https:`, `data:` or another scheme.
    pub uri: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<String>,
}

/// How to show a claim.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClaimDescription {
    /// Where it is.
    pub path: ClaimPath,
    /// Whether it is always there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mandatory: bool,
    /// Its names, one per language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub display: Vec<Display>,
}

/// What is wrong with issuer metadata.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MetadataProblem {
    /// No URL, or one with a query or fragment.
    #[error("the credential issuer identifier is not a URL without query and fragment")]
    Identifier,
    /// An empty list of authorization servers.
    #[error("authorization_servers is empty")]
    Servers,
    /// A batch of fewer than two.
    #[error("batch_size is below 2")]
    BatchSize,
    /// Two names for one language.
    #[error("display has two entries for one language")]
    Languages,
    /// Binding methods without proof types, or the other way round.
    #[error("binding methods and proof types must both be present or both be absent")]
    Binding,
    /// A list that must not be empty is.
    #[error("a list of algorithms, methods or types is empty")]
    EmptyList,
    /// No `vct`, or no `credential_definition`, where the format needs it.
    #[error("the credential's type is missing")]
    Type,
    /// Two descriptions of one claim, or two that contradict each other.
    #[error("the descriptions of the claims repeat or contradict each other")]
    Claims,
}

impl IssuerMetadata {
    /// The readable configuration of this name.
    pub fn configuration(&self, id: &str) -> Option<&Configuration> {
        match self.credential_configurations_supported.get(id)? {
            Entry::Known(configuration) => Some(configuration),
            Entry::Foreign(_) => None,
        }
    }

    /// How many proofs one request may have.
    pub fn batch_size(&self) -> usize {
        self.batch_credential_issuance
            .and_then(|batch| usize::try_from(batch.batch_size).ok())
            .unwrap_or(1)
    }

    /// Checks what the types do not say of the issuer itself.
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
    /// The format, if it is one of ours.
    pub fn known_format(&self) -> Option<Format> {
        self.format.parse().ok()
    }

    /// What is asked of a `jwt` proof.
    pub fn jwt_proof(&self) -> Option<&ProofType> {
        self.proof_types_supported.as_ref()?.get(JWT)
    }

    /// Checks what the types do not say of one configuration.
    pub fn check(&self) -> Result<(), MetadataProblem> {
        // §12.2.4: present together, omitted together.
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
        let present = match self.known_format() {
            Some(Format::SdJwtVc) => self.vct.as_ref().is_some_and(|vct| !vct.is_empty()),
            Some(Format::JwtVcJson | Format::VcJwt) => self
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

// There must be only one object for each language identifier.
fn check_languages(display: &[Display]) -> Result<(), MetadataProblem> {
    let mut seen = BTreeSet::new();
    let mut locales = display.iter().filter_map(|entry| entry.locale.as_deref());
    if locales.all(|locale| seen.insert(locale.to_ascii_lowercase())) {
        Ok(())
    } else {
        Err(MetadataProblem::Languages)
    }
}

// OpenID4VCI 1.0 Appendix B.3: one description a claim; one kind of step below each claim.
fn check_claims(claims: &[ClaimDescription]) -> Result<(), MetadataProblem> {
    let mut paths = BTreeSet::new();
    let mut kinds: BTreeMap<&[Segment], Kind> = BTreeMap::new();
    for claim in claims {
        check_languages(&claim.display)?;
        if !paths.insert(&claim.path) {
            return Err(MetadataProblem::Claims);
        }
        let segments = claim.path.segments();
        for (depth, segment) in segments.iter().enumerate() {
            let above = segments.get(..depth).unwrap_or_default();
            let kind = Kind::of(segment);
            if *kinds.entry(above).or_insert(kind) != kind {
                return Err(MetadataProblem::Claims);
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Member,
    Element,
    Elements,
}

impl Kind {
    fn of(segment: &Segment) -> Self {
        match segment {
            Segment::Name(_) => Self::Member,
            Segment::Index(_) => Self::Element,
            Segment::All => Self::Elements,
        }
    }
}
