//! The issuer's shapes: templates, offers, issued credentials.

use selfsame_credential::date::is_full_date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{CredentialUse, Labels};

/// A kind of credential this issuer can issue.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Template {
    /// Its name in URLs and commands, such as `immunization`.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// What it attests, in one sentence.
    pub description: String,
    /// The last part of its SD-JWT VC type.
    pub vct: String,
    /// Its W3C types, the general one first.
    pub types: Vec<String>,
    /// Whether a credential can be used once. Holds for SD-JWT VCs of an issuer with a `did:selfsame`.
    #[serde(default)]
    pub single_use: bool,
    /// How many days a credential is valid.
    pub validity_days: u64,
    /// The card's colour, as CSS.
    pub color: String,
    /// A small picture, such as an emoji.
    pub icon: String,
    /// Its claims, in the order of the form.
    pub claims: Vec<ClaimField>,
    /// What a verifier typically asks of it.
    pub request: TypicalRequest,
}

/// Letting somebody use up or revoke credentials in the issuer's place.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDelegation {
    /// Who may: a `did:selfsame` of the issuer's network.
    pub to: String,
    /// `consume` or `revoke`.
    pub action: String,
    /// The templates whose credentials it is for.
    pub templates: Vec<String>,
    /// Until when, RFC 3339; 90 days from now unless told.
    #[serde(default)]
    pub until: Option<String>,
}

/// A delegation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Delegation {
    /// Its name in the registry, among this issuer's.
    pub id: String,
    /// Who may.
    pub to: String,
    /// `consume` or `revoke`.
    pub action: String,
    /// The templates whose credentials it is for.
    pub templates: Vec<String>,
    /// Until when, RFC 3339.
    pub until: String,
    /// Where it stands.
    pub state: DelegationState,
    /// The transaction that gave it; none while it is pending.
    pub seq_no: Option<u64>,
}

/// Where a delegation stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelegationState {
    /// The registry does not have it yet; it will be sent again.
    Pending,
    /// It holds.
    Active,
    /// Its time is over.
    Expired,
    /// The issuer has ended it.
    Withdrawn,
}

impl DelegationState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// One claim of a template.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ClaimField {
    /// The names of the members that lead to it.
    pub path: Vec<String>,
    /// Its name for people, by language.
    pub label: Labels,
    /// How it is entered.
    pub kind: ClaimKind,
    /// Whether each credential has it.
    pub mandatory: bool,
    /// Whether its holder may keep it back.
    pub disclosable: bool,
    /// Whether a holder may show single elements of a list and keep the others back.
    #[serde(default)]
    pub each: bool,
    /// What the elements of a list of objects hold; empty for lists of texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemField>,
    /// A realistic value about an evidently synthetic person.
    #[schema(value_type = Value)]
    pub example: Value,
}

/// One member of a list's elements; an element may lack it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ItemField {
    /// The member's name.
    pub name: String,
    /// Its name for people, by language.
    pub label: Labels,
    /// How it is entered.
    pub kind: ClaimKind,
}

/// How a claim is entered.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// A line of text.
    Text,
    /// A date, `YYYY-MM-DD`.
    Date,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// A list of texts or objects.
    List,
}

impl ClaimKind {
    /// Whether a value is of this kind.
    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Date => value.as_str().is_some_and(is_full_date),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
        }
    }

    /// What is to be entered, for people.
    #[must_use]
    pub fn expectation(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Date => "date such as 2026-01-31",
            Self::Number => "number",
            Self::Boolean => "true or false",
            Self::List => "list",
        }
    }
}

/// What a verifier typically asks of a template.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TypicalRequest {
    /// Its name for people.
    pub title: String,
    /// The claims it asks.
    pub claims: Vec<Vec<String>>,
}

/// What to offer.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOffer {
    /// The template's id.
    pub template: String,
    /// `dc+sd-jwt`, `jwt_vc_json` or `vc+jwt`, as far as the settings have it issued; the first of these unless told.
    #[serde(default)]
    pub format: Option<String>,
    /// The claims; a template's examples fill what is absent if `examples` is set.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// Whether absent claims take the template's examples.
    #[serde(default)]
    pub examples: bool,
    /// How often it can be taken; 1 unless told.
    #[serde(default)]
    pub uses: Option<u32>,
    /// Whether the wallet must send a transaction code that reaches the person by another way.
    #[serde(default)]
    pub tx_code: bool,
    /// Whether the link carries a reference in place of the offer itself.
    #[serde(default)]
    pub by_reference: bool,
    /// How long it can be taken, in seconds; an hour unless told.
    #[serde(default)]
    pub expires_in: Option<u64>,
    /// A note for the issuer's own list; goes nowhere else.
    #[serde(default)]
    pub label: Option<String>,
}

/// An offer that was made.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Offer {
    /// Its id.
    pub id: String,
    /// The template's id.
    pub template: String,
    /// The credential's format.
    pub format: String,
    /// The link a wallet takes: `openid-credential-offer://…`.
    pub uri: String,
    /// The transaction code for the person, only in the answer that made it.
    pub tx_code: Option<String>,
    /// `open`, `taken`, `locked` (too many wrong codes) or `expired`.
    pub state: String,
    /// How often it can still be taken.
    pub uses_left: u32,
    /// Until when it can be taken, RFC 3339.
    pub expires: String,
    /// The issuer's note.
    pub label: Option<String>,
}

/// A credential that was issued; its claims are not kept.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct IssuedCredential {
    /// Its id in this issuer's records; appears in no credential.
    pub id: String,
    /// The template's id.
    pub template: String,
    /// Its format.
    pub format: String,
    /// The offer it came from.
    pub offer: String,
    /// When it was issued, rounded, RFC 3339.
    pub issued: String,
    /// Until when it is valid, RFC 3339.
    pub expires: String,
    /// `valid`, `revoked` or `suspended`.
    pub status: CredentialStatus,
    /// Whether the lists that are served say so; they do within a second of a change.
    pub published: bool,
    /// Its status list's URI.
    pub status_list: String,
    /// Its index in that list.
    pub status_index: u64,
    /// The issuer's note.
    pub label: Option<String>,
    /// Who has used a credential for one use up, or revoked it in the issuer's name; none as long as the registry has
    /// not said so.
    #[serde(default)]
    pub used: Option<CredentialUse>,
}

/// What an issuer says of a credential after its issuance.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialStatus {
    /// As issued.
    Valid,
    /// Withdrawn for good.
    Revoked,
    /// Withdrawn for now.
    Suspended,
}

/// The signed bytes of a status list, ready to be served.
#[derive(Clone, Debug)]
pub struct ServedList {
    /// The signed token.
    pub body: std::sync::Arc<[u8]>,
    /// Its media type.
    pub content_type: &'static str,
    /// Its entity tag, with quotes.
    pub etag: String,
    /// How long a cache may keep it, in seconds.
    pub max_age: u64,
}
