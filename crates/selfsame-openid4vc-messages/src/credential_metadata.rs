//! What an issuer's metadata says of a credential: its types, its proofs, and how it is shown (OpenID4VCI 1.0 §12.2.4).

use std::collections::{BTreeMap, BTreeSet};

use selfsame_sd_jwt::path::{ClaimPath, Segment};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// The contexts, where types are expanded (§A.1.2).
    #[serde(rename = "@context", default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<Value>>,
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

/// Checks that there is at most one entry for a language.
///
/// # Errors
/// [`MetadataProblem::Languages`].
pub fn check_languages(display: &[Display]) -> Result<(), MetadataProblem> {
    let mut seen = BTreeSet::new();
    let mut locales = display.iter().filter_map(|entry| entry.locale.as_deref());
    if locales.all(|locale| seen.insert(locale.to_ascii_lowercase())) {
        Ok(())
    } else {
        Err(MetadataProblem::Languages)
    }
}

/// Checks that there is one description for a claim, and that all steps below a claim are of one kind (OpenID4VCI 1.0
/// Appendix B.3).
///
/// # Errors
/// [`MetadataProblem::Claims`] or [`MetadataProblem::Languages`].
pub fn check_claims(claims: &[ClaimDescription]) -> Result<(), MetadataProblem> {
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
