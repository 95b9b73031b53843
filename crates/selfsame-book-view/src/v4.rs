//! The shapes of OrgBook's API, version 4 (aries-vcr, `server/vcr-server/api/v4`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A page of results.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ResultPage<T> {
    /// The number of all results, at most 10,000.
    pub total: usize,
    /// The number of results on a page.
    pub page_size: usize,
    /// The number of this page, from 1.
    pub page: usize,
    /// The place of its first result, from 1; 0 if it has none.
    pub first_index: usize,
    /// The place of its last result.
    pub last_index: usize,
    /// The address of the next page.
    pub next: Option<String>,
    /// The address of the previous page.
    pub previous: Option<String>,
    /// The results.
    pub results: Vec<T>,
}

/// Suggestions for what is typed.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Suggestions {
    /// Their number.
    pub total: usize,
    /// The place of the first one.
    pub first_index: usize,
    /// The place of the last one.
    pub last_index: usize,
    /// The suggestions, best first.
    pub results: Vec<SuggestedText>,
}

/// A suggestion.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SuggestedText {
    /// The number of the topic.
    pub id: i64,
    /// `name`, `address` or `topic`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The type of the name, `civic_address` or `source_id`.
    pub sub_type: String,
    /// The text.
    pub value: String,
    /// How well it fits.
    pub score: f64,
    /// The number or name of the topic.
    pub topic_source_id: String,
    /// The type of the topic.
    pub topic_type: String,
    /// The identifier of the credential that founds the topic.
    pub credential_id: String,
    /// The title of its type.
    pub credential_type: String,
    /// The names of the topic.
    pub names: Vec<String>,
}

/// A topic.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownTopic {
    /// Its number.
    pub id: i64,
    /// When it was entered, RFC 3339.
    pub create_timestamp: String,
    /// When it was changed, RFC 3339.
    pub update_timestamp: String,
    /// Its number or name in the register that it comes from.
    pub source_id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The numbers of topics that it is related to.
    pub related_to: Vec<i64>,
    /// The numbers of topics that are related to it.
    pub related_from: Vec<i64>,
}

/// A topic that a search found.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct FoundTopic {
    /// Its number.
    pub id: i64,
    /// Its number or name in the register that it comes from.
    pub source_id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its names.
    pub names: Vec<ShownName>,
    /// Its addresses.
    pub addresses: Vec<ShownAddress>,
    /// Its attributes.
    pub attributes: Vec<ShownAttribute>,
    /// The set of the credential that founds it.
    pub credential_set: ShownSet,
    /// The type of that credential.
    pub credential_type: ShownType,
    /// Whether the topic is no longer active.
    pub inactive: bool,
    /// Whether that credential is revoked.
    pub revoked: bool,
    /// From when it holds, RFC 3339.
    pub effective_date: String,
    /// When it was revoked, RFC 3339.
    pub revoked_date: Option<String>,
}

/// A name.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownName {
    /// Its number.
    pub id: i64,
    /// The name.
    pub text: String,
    /// Its language, which is not known.
    pub language: Option<String>,
    /// The type of the name.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of a credential that says so.
    pub credential_id: i64,
}

/// An address.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownAddress {
    /// Its number.
    pub id: i64,
    /// The addressee.
    pub addressee: Option<String>,
    /// The lines of the address.
    pub civic_address: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// The province.
    pub province: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
    /// The country.
    pub country: Option<String>,
    /// The number of a credential that says so.
    pub credential_id: i64,
}

/// An attribute.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownAttribute {
    /// Its number.
    pub id: i64,
    /// The type of the attribute.
    #[serde(rename = "type")]
    pub kind: String,
    /// `category` if topics can be filtered by it.
    pub format: Option<String>,
    /// Its value.
    pub value: String,
    /// The number of a credential that says so.
    pub credential_id: i64,
    /// The number of the type of that credential.
    pub credential_type_id: i64,
}

/// Credentials that replace one another.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownSet {
    /// Its number.
    pub id: i64,
    /// When its first credential was entered, RFC 3339.
    pub create_timestamp: String,
    /// When its latest credential was entered, RFC 3339.
    pub update_timestamp: String,
    /// The number of the credential in force.
    pub latest_credential_id: i64,
    /// The number of the topic.
    pub topic_id: i64,
    /// The earliest effective date, RFC 3339.
    pub first_effective_date: String,
    /// The latest effective date, RFC 3339.
    pub last_effective_date: String,
    /// The credentials, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Vec<ShownCredential>>,
}

/// A credential.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownCredential {
    /// Its number.
    pub id: i64,
    /// Its type.
    pub credential_type: ShownType,
    /// Its identifier.
    pub credential_id: String,
    /// Its credential definition; AnonCreds only.
    pub credential_def_id: Option<String>,
    /// From when it holds, RFC 3339.
    pub effective_date: String,
    /// Whether it says that the topic is no longer active.
    pub inactive: bool,
    /// Whether it is the one in force of its set.
    pub latest: bool,
    /// Whether it is revoked.
    pub revoked: bool,
    /// When it was revoked, RFC 3339.
    pub revoked_date: Option<String>,
    /// The credential that replaced it; not noted.
    pub revoked_by: Option<String>,
    /// Its attributes.
    pub attributes: Vec<ShownAttribute>,
    /// Its names.
    pub names: Vec<ShownName>,
    /// Its claims, as far as its type shows them in a book.
    #[schema(value_type = Object)]
    pub raw_data: Map<String, Value>,
}

/// A credential type.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownType {
    /// Its number.
    pub id: i64,
    /// Its schema.
    pub schema: ShownSchema,
    /// Who issues it: the organisation that keeps the book.
    pub issuer: ShownIssuer,
    /// Whether it has a logo.
    pub has_logo: bool,
    /// Its title.
    pub description: String,
    /// What it attests.
    pub credential_title: Option<String>,
    /// Where its documents are.
    pub url: Option<String>,
    /// Its credential definition; AnonCreds only.
    pub credential_def_id: Option<String>,
    /// The attributes that are highlighted: those that are facets.
    pub highlighted_attributes: Vec<String>,
    /// The format of its credentials, if it has one alone.
    pub format: Option<String>,
}

/// A schema.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownSchema {
    /// The number of the type.
    pub id: i64,
    /// Its name: the id of the type.
    pub name: String,
    /// Its version: that of the type.
    pub version: String,
    /// Who published it.
    pub origin_did: String,
}

/// An issuer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownIssuer {
    /// Its number.
    pub id: i64,
    /// Its identifier.
    pub did: String,
    /// Its name for people, or else its identifier.
    pub name: String,
    /// Its short name; none.
    pub abbreviation: Option<String>,
    /// Its e-mail address; none.
    pub email: Option<String>,
    /// Its web address; none.
    pub url: Option<String>,
    /// Its endpoint; none.
    pub endpoint: Option<String>,
    /// Whether it has a logo.
    pub has_logo: bool,
    /// Whether its entries may still be relied on.
    pub standing: IssuerStanding,
}

/// Whether entries of an issuer may still be relied on.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssuerStanding {
    /// Nothing speaks against it.
    Good,
    /// It is an organisation of this instance that is suspended or erased.
    Suspended,
    /// The organisation that keeps the book does not trust it any more.
    Untrusted,
}

impl IssuerStanding {
    /// What people should know of the issuer; `None` if nothing speaks against it.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Good => None,
            Self::Suspended => Some("issuer suspended"),
            Self::Untrusted => Some("issuer not trusted"),
        }
    }
}

/// The facets of a search, with its results.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct FacetedSearch {
    /// The facets.
    pub facets: FacetFields,
    /// The results.
    pub objects: ResultPage<FoundTopic>,
}

/// The facets by their kind.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct FacetFields {
    /// The facets of fields.
    pub fields: FacetLists,
}

/// The facets of fields.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct FacetLists {
    /// Values of attributes, as `name::value`.
    pub category: Vec<CountedFacet>,
    /// Issuers of credentials.
    pub issuer_id: Vec<CountedFacet>,
    /// Types of credentials.
    pub credential_type_id: Vec<CountedFacet>,
}

/// A value with the number of topics that have it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CountedFacet {
    /// The value to filter by.
    pub value: String,
    /// The number of topics.
    pub count: i64,
    /// The value for people.
    pub text: Option<String>,
}

/// A topic that a search with typing errors found.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct FuzzyTopic {
    /// Its number.
    pub id: i64,
    /// Its number or name in the register that it comes from.
    pub topic_source_id: String,
    /// The number of the issuer of the credential that founds it.
    pub topic_issuer_id: i64,
    /// The number of the type of that credential.
    pub topic_type_id: i64,
    /// Its names.
    pub topic_names: Vec<String>,
    /// Whether it is no longer active.
    pub topic_inactive: bool,
    /// Whether that credential is revoked.
    pub topic_revoked: bool,
}
