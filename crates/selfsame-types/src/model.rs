//! What describes a type of credential: its claims, its card, and the requests that verifiers typically make.

use std::ops::Deref;
use std::sync::Arc;

use selfsame_book::BookMapping;
use selfsame_credential::Format;
use selfsame_driver::Reason;
use selfsame_prerequisites::Prerequisites;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use crate::anoncreds_objects::{AnonCredsObjects, PublishingState};
pub use crate::derived::Derived;
pub use crate::formats::{ANONCREDS, TypeFormats};
pub use crate::labels::{Labels, text_of};

/// What a way through objects leads to.
fn inner<'a>(members: &'a mut Map<String, Value>, path: &[String]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    let value = members.get_mut(first)?;
    match rest {
        [] => Some(value),
        rest => inner(value.as_object_mut()?, rest),
    }
}

/// A credential type as its file describes it. docs/credential-types.md explains each member.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeDefinition {
    /// Its name in URLs and commands, such as `immunization`.
    pub id: String,
    /// Its title, by language.
    pub title: Labels,
    /// What it attests, in one sentence, by language.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub description: Labels,
    /// Its SD-JWT VC type. Default: a URL below the organisation's base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vct: Option<String>,
    /// Its W3C types, the general one first. Default: `VerifiableCredential` and a name made from the id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub w3c_types: Vec<String>,
    /// The SD-JWT VC type that it extends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<Extends>,
    /// Its document type in ISO mdoc, such as `org.iso.18013.5.1.mDL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doctype: Option<String>,
    /// The namespace of its claims in ISO mdoc. Default: the document type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its formats, and `anoncreds`, which is published to the registry. Default: the usual ones of the issuer.
    #[serde(default, skip_serializing_if = "TypeFormats::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub formats: TypeFormats,
    /// Number of days for which a credential is valid.
    #[serde(default = "a_year")]
    pub validity_days: u64,
    /// Whether the issuer can revoke a credential.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub revocable: bool,
    /// Whether the issuer can suspend a credential and reinstate it.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub suspendable: bool,
    /// Whether a credential is single-use. Applies to SD-JWT VCs of an issuer with a `did:selfsame`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub single_use: bool,
    /// Its card.
    #[serde(default)]
    pub card: Card,
    /// Its claims, in the order of the form.
    pub claims: Vec<TypeClaim>,
    /// The requests that verifiers typically make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<TypicalRequest>,
    /// The proven credentials that a new one needs, and what fills its claims from them (docs/prerequisites.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub prerequisites: Option<Box<Prerequisites>>,
    /// How its credentials appear in a credential book; without it, they do not (docs/book.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub book: Option<Box<BookMapping>>,
}

/// The type that a type extends (SD-JWT VC, Type Metadata).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Extends {
    /// The `vct` of the extended type.
    pub vct: String,
    /// The integrity of its metadata document, such as `sha256-…` (W3C Subresource Integrity).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
}

/// How a card looks.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Card {
    /// The paths of up to three claims that tell a holder's cards apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front: Vec<Vec<String>>,
    /// The background colour, `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_color: Option<String>,
    /// The text colour, `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_color: Option<String>,
    /// A pictogram, such as an emoji, shown where there is no logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<CardImage>,
    /// The background image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<CardImage>,
}

/// An image of a card.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CardImage {
    /// The image as a `data:` URI: PNG, JPEG, WebP or SVG in base64.
    pub uri: String,
    /// The text alternative, by language.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub alt_text: Labels,
}

/// A claim, a member of an object, or the element of a list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeClaim {
    /// The names of the object members that lead to it; within an object, from that object. An element has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Its label, by language.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub label: Labels,
    /// A text that helps to fill it in, by language.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub help: Labels,
    /// The kind of value.
    pub kind: ClaimKind,
    /// Whether every credential, or every object that can contain it, must have it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// Who sees it. Default: `selectively` for a claim, `always` for what is within one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclosed: Option<Disclosed>,
    /// Maximum number of characters of a text. Default: 100,000, which is more than an offer can carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression that a whole text must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether a number must be whole.
    #[serde(default, skip_serializing_if = "is_false")]
    pub integer: bool,
    /// The values of an enumeration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<EnumerationValue>,
    /// The members of an object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub claims: Vec<TypeClaim>,
    /// Its namespace in ISO mdoc. Default: that of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What each element of a list is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    pub of: Option<Box<TypeClaim>>,
    /// How it follows from another claim; the clerk does not fill it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<Derived>,
    /// A realistic value about an obviously invented person. Default: one made from the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub example: Option<Value>,
}

/// The kind of a claim's value.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A date, `YYYY-MM-DD`.
    Date,
    /// True or false.
    Boolean,
    /// An image as a `data:` URI.
    Image,
    /// One of some texts.
    Enumeration,
    /// An object with claims of its own.
    Object,
    /// A list of values of one kind.
    List,
}

/// Who sees a claim.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Disclosed {
    /// Everyone who sees the credential.
    Always,
    /// Those to whom the holder discloses it.
    Selectively,
    /// The issuer alone, which keeps it in its register and does not put it into the credential.
    Never,
}

/// A value of an enumeration.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EnumerationValue {
    /// The value in the credential.
    pub value: String,
    /// Its label, by language.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub label: Labels,
}

/// A request that verifiers typically make for a type.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TypicalRequest {
    /// Its title, by language.
    pub title: Labels,
    /// The paths of the claims it requests.
    pub claims: Vec<Vec<String>>,
}

/// The state of a version of a type.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TypeState {
    /// It can be changed, and nothing is issued of it.
    Draft,
    /// It cannot be changed, and credentials are issued of it.
    Published,
    /// Nothing more is issued of it; what was issued stays verifiable.
    Retired,
}

impl TypeState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
            Self::Retired => "retired",
        }
    }
}

/// A version of a credential type that has passed all checks.
#[derive(Clone, Debug, PartialEq)]
pub struct CredentialType {
    /// What its file says.
    pub definition: Arc<TypeDefinition>,
    /// Its version, counted from 1.
    pub version: u32,
    /// Its state.
    pub state: TypeState,
    /// Its SD-JWT VC type.
    pub vct: String,
    /// Whether it comes with the program.
    pub is_sample: bool,
    /// Its documents; none for a sample.
    pub served: Option<ServedDocuments>,
}

/// The next version of a type, which is about to be published.
#[derive(Clone, Copy, Debug)]
pub struct NewVersion<'a> {
    /// What its file says.
    pub definition: &'a TypeDefinition,
    /// Its number.
    pub version: u32,
}

/// The documents of a version that wallets and verifiers fetch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServedDocuments {
    /// Their addresses.
    pub addresses: Addresses,
    /// The integrity of the type metadata document (W3C Subresource Integrity).
    pub integrity: String,
}

/// The addresses of the documents of one version of a type. The others stand below that of the type metadata.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Addresses {
    pub(crate) metadata: Box<str>,
}

impl Deref for CredentialType {
    type Target = TypeDefinition;

    fn deref(&self) -> &TypeDefinition {
        &self.definition
    }
}

impl CredentialType {
    /// Its name among the configurations of an issuer's metadata, in one format.
    #[must_use]
    pub fn configuration_id(&self, format: Format) -> String {
        let label = format.describe().label;
        match self.is_sample {
            true => format!("{}_{label}", self.id),
            false => format!("{}_{}_{label}", self.id, self.version),
        }
    }

    /// Whether credentials of it are issued over OpenID4VCI.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.formats.offered().next().is_some()
    }

    /// Whether it is issued in this format. A type that names no format is for people.
    #[must_use]
    pub fn is_issued_as(&self, format: Format) -> bool {
        self.formats.includes(format)
    }
}

impl TypeDefinition {
    /// A type without title and claims, to begin with.
    #[must_use]
    pub(crate) fn empty() -> Self {
        Self {
            id: String::new(),
            title: Labels::new(),
            description: Labels::new(),
            vct: None,
            w3c_types: Vec::new(),
            extends: None,
            doctype: None,
            namespace: None,
            formats: TypeFormats::default(),
            validity_days: a_year(),
            revocable: true,
            suspendable: true,
            single_use: false,
            card: Card::default(),
            claims: Vec::new(),
            requests: Vec::new(),
            prerequisites: None,
            book: None,
        }
    }

    /// The title in English, or else in its first language.
    #[must_use]
    pub fn name(&self) -> &str {
        text_of(&self.title)
    }

    /// The description in English, or else in its first language.
    #[must_use]
    pub fn summary(&self) -> &str {
        text_of(&self.description)
    }

    /// The background colour of its card, as CSS; empty for none.
    #[must_use]
    pub fn color(&self) -> &str {
        self.card.background_color.as_deref().unwrap_or_default()
    }

    /// The pictogram of its card; empty for none.
    #[must_use]
    pub fn icon(&self) -> &str {
        self.card.icon.as_deref().unwrap_or_default()
    }

    /// The W3C types: those of the file, or `VerifiableCredential` and a name made from the id.
    #[must_use]
    pub fn w3c_types(&self) -> Vec<String> {
        if !self.w3c_types.is_empty() {
            return self.w3c_types.clone();
        }
        let capital = |word: &str| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        };
        let name: String = self.id.split('-').map(capital).collect();
        vec![GENERAL_TYPE.to_owned(), format!("{name}Credential")]
    }

    /// The first typical request. Without one: the claims on the card's front, or else all claims.
    #[must_use]
    pub fn typical_request(&self) -> TypicalRequest {
        if let Some(first) = self.requests.first() {
            return first.clone();
        }
        let asked = self.claims.iter().filter(|claim| claim.is_in_credential());
        let claims = match self.card.front.is_empty() {
            true => asked.map(|claim| claim.path.clone()).collect(),
            false => self.card.front.clone(),
        };
        TypicalRequest {
            title: self.title.clone(),
            claims,
        }
    }

    /// Gives back the memory that reading it took beyond what it needs.
    pub(crate) fn shrink(&mut self) {
        self.w3c_types.shrink_to_fit();
        self.formats.issued.shrink_to_fit();
        self.card.front.shrink_to_fit();
        self.card.front.iter_mut().for_each(Vec::shrink_to_fit);
        self.claims.shrink_to_fit();
        self.claims.iter_mut().for_each(TypeClaim::shrink);
        self.requests.shrink_to_fit();
        for request in &mut self.requests {
            request.claims.shrink_to_fit();
            request.claims.iter_mut().for_each(Vec::shrink_to_fit);
        }
    }

    /// The claim at this path.
    #[must_use]
    pub fn claim(&self, path: &[String]) -> Option<&TypeClaim> {
        self.claims.iter().find(|claim| claim.path == path)
    }
}

impl TypeClaim {
    /// A claim of this kind, optional and without anything else.
    #[must_use]
    pub fn new(path: Vec<String>, kind: ClaimKind) -> Self {
        Self {
            path,
            label: Labels::new(),
            help: Labels::new(),
            kind,
            required: false,
            disclosed: None,
            max_length: None,
            pattern: None,
            min: None,
            max: None,
            integer: false,
            values: Vec::new(),
            claims: Vec::new(),
            namespace: None,
            of: None,
            derived: None,
            example: None,
        }
    }

    fn shrink(&mut self) {
        self.path.shrink_to_fit();
        self.values.shrink_to_fit();
        self.claims.shrink_to_fit();
        let inner = self.claims.iter_mut().chain(self.of.as_deref_mut());
        inner.for_each(Self::shrink);
    }

    /// Its label in English, or else in its first language, or else its path.
    #[must_use]
    pub fn name(&self) -> String {
        match text_of(&self.label) {
            "" => self.path.join(" ").replace('_', " "),
            label => label.to_owned(),
        }
    }

    /// Puts the labels of an enumeration's values in place of those values, also within this claim.
    pub fn name_values(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let named = self.values.iter().find(|one| one.value == *text);
                let label = named.map_or("", |one| text_of(&one.label));
                if !label.is_empty() {
                    *text = label.to_owned();
                }
            }
            Value::Array(elements) => {
                let element = self.of.as_deref().unwrap_or(self);
                elements.iter_mut().for_each(|one| element.name_values(one));
            }
            Value::Object(members) => {
                for claim in &self.claims {
                    if let Some(inner) = inner(members, &claim.path) {
                        claim.name_values(inner);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether it is put into the credential.
    #[must_use]
    pub fn is_in_credential(&self) -> bool {
        self.disclosed != Some(Disclosed::Never)
    }

    /// Whether the holder may withhold it. `is_inner`: whether it is within another claim.
    #[must_use]
    pub fn is_selective(&self, is_inner: bool) -> bool {
        match self.disclosed {
            Some(disclosed) => disclosed == Disclosed::Selectively,
            None => !is_inner,
        }
    }
}

impl ClaimKind {
    /// All kinds, the common ones first.
    pub const ALL: [Self; 8] = [
        Self::Text,
        Self::Number,
        Self::Date,
        Self::Boolean,
        Self::Enumeration,
        Self::Image,
        Self::List,
        Self::Object,
    ];

    /// The kind with this name in files.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Its name in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::Boolean => "boolean",
            Self::Image => "image",
            Self::Enumeration => "enumeration",
            Self::Object => "object",
            Self::List => "list",
        }
    }

    /// The kind of value expected, in words for people.
    #[must_use]
    pub const fn expected(self) -> Reason {
        match self {
            Self::Text => Reason::new("kind-text"),
            Self::Number => Reason::new("kind-number"),
            Self::Date => Reason::new("kind-date"),
            Self::Boolean => Reason::new("kind-boolean"),
            Self::Image => Reason::new("kind-image"),
            Self::Enumeration => Reason::new("kind-enumeration"),
            Self::Object => Reason::new("kind-object"),
            Self::List => Reason::new("kind-list"),
        }
    }
}

/// The type that every W3C credential has.
pub(crate) const GENERAL_TYPE: &str = "VerifiableCredential";

const fn a_year() -> u64 {
    365
}

const fn yes() -> bool {
    true
}

const fn is_true(value: &bool) -> bool {
    *value
}

const fn is_false(value: &bool) -> bool {
    !*value
}
