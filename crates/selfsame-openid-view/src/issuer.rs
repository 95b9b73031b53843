//! The issuer's views: offers, issued credentials, delegations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::at_least_one;

use crate::uses::CredentialUse;
use crate::words::{DelegatedAction, FormatName};

/// A permission to create: to use up or revoke credentials on the issuer's behalf.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDelegation {
    /// The delegate: a `did:selfsame` of the issuer's network.
    pub to: String,
    /// What the delegate may do.
    #[schema(value_type = DelegatedAction)]
    pub action: String,
    /// The ids of the types whose credentials it covers.
    pub types: Vec<String>,
    /// When it ends, RFC 3339; default 90 days from now.
    #[serde(default)]
    pub until: Option<String>,
}

/// A delegation: the permission to use up or revoke credentials on the issuer's behalf.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Delegation {
    /// Its name in the registry, unique for this issuer.
    pub id: String,
    /// The delegate's DID.
    pub to: String,
    /// What the delegate may do.
    #[schema(value_type = DelegatedAction)]
    pub action: String,
    /// The ids of the types whose credentials it covers.
    pub types: Vec<String>,
    /// When it ends, RFC 3339.
    pub until: String,
    /// Its state.
    pub state: DelegationState,
    /// The number of the transaction that created it; absent while it is pending.
    pub seq_no: Option<u64>,
}

/// The state of a delegation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelegationState {
    /// The registry does not have it yet; it will be sent again.
    Pending,
    /// It is in force.
    Active,
    /// It has expired.
    Expired,
    /// The issuer has withdrawn it.
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

/// An offer to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOffer {
    /// The id of the credential's type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// A format that the settings enable; default: the first one enabled.
    #[serde(default)]
    #[schema(value_type = Option<FormatName>)]
    pub format: Option<String>,
    /// The claims; with `examples`, absent ones take the type's examples.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// Whether absent claims take the type's examples.
    #[serde(default)]
    pub examples: bool,
    /// How many times it can be accepted; default 1.
    #[serde(default)]
    pub uses: Option<u32>,
    /// Whether the wallet must send a transaction code that reaches the person separately.
    #[serde(default)]
    pub tx_code: bool,
    /// Whether the person signs in here to get the credential, which is made from what is known of them.
    #[serde(default)]
    pub by_sign_in: bool,
    /// Whether somebody must approve the request before the credential is issued; default: what the settings say.
    #[serde(default)]
    pub needs_approval: Option<bool>,
    /// Whether the link contains a reference instead of the offer itself.
    #[serde(default)]
    pub by_reference: bool,
    /// How long it can be accepted, in seconds; default one hour.
    #[serde(default)]
    pub expires_in: Option<u64>,
    /// A note for the issuer's own list; not sent anywhere.
    #[serde(default)]
    pub label: Option<String>,
}

/// Offers of one type to create at once, one for each row.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOffers {
    /// The id of the credentials' type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// A format that the settings enable; default: the first one enabled.
    #[serde(default)]
    #[schema(value_type = Option<FormatName>)]
    pub format: Option<String>,
    /// What each offer holds: 1 to 1,000 rows.
    #[schema(min_items = 1, max_items = 1000)]
    pub rows: Vec<OfferRow>,
    /// Whether the wallet must send a transaction code that reaches the person separately.
    #[serde(default)]
    pub tx_code: bool,
    /// Whether somebody must approve each request before the credential is issued; default: what the settings say.
    #[serde(default)]
    pub needs_approval: Option<bool>,
    /// Whether the links contain a reference instead of the offer itself.
    #[serde(default)]
    pub by_reference: bool,
    /// How long the offers can be accepted, in seconds; default one hour.
    #[serde(default)]
    pub expires_in: Option<u64>,
}

impl NewOffers {
    /// The maximum number of rows.
    pub const ROWS_MAX: usize = 1_000;
}

/// One of several offers to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferRow {
    /// The claims.
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// A note for the issuer's own list; not sent anywhere.
    #[serde(default)]
    pub label: Option<String>,
}

/// An offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Offer {
    /// Its id.
    pub id: String,
    /// The id of the credential's type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// The credential's format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// The link for the wallet: `openid-credential-offer://…`.
    pub uri: String,
    /// The transaction code for the person; only in the response that created the offer.
    pub tx_code: Option<String>,
    /// Its state.
    pub state: OfferState,
    /// How many more times it can be accepted.
    pub uses_left: u32,
    /// Until when it can be accepted, RFC 3339.
    pub expires: String,
    /// When it was last accepted, RFC 3339; absent if it never was.
    #[serde(default)]
    pub accepted: Option<String>,
    /// The issuer's note.
    pub label: Option<String>,
    /// Whether somebody must approve the request before the credential is issued.
    #[serde(default)]
    pub needs_approval: bool,
}

/// The state of an offer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfferState {
    /// It can be accepted.
    Open,
    /// It was accepted as often as it could be.
    Taken,
    /// It can't be accepted any more: too many wrong codes were sent, or it was misused.
    Locked,
    /// It has expired.
    Expired,
}

impl OfferState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Taken => "taken",
            Self::Locked => "locked",
            Self::Expired => "expired",
        }
    }
}

/// An issued credential; its claims are not stored, except those that only the issuer keeps.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct IssuedCredential {
    /// Its id in this issuer's records; not part of the credential.
    pub id: String,
    /// The id of the credential's type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// Its format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// The id of its offer.
    pub offer: String,
    /// When it was issued, rounded, RFC 3339.
    pub issued: String,
    /// Until when it is valid, RFC 3339.
    pub expires: String,
    /// Its status.
    pub status: CredentialStatus,
    /// Whether the served status lists show this status; they do within a second of a change.
    pub published: bool,
    /// The URI of its status list.
    pub status_list: String,
    /// Its index in that list.
    pub status_index: u64,
    /// For how many seconds a verifier may go on using that list, and so an earlier status.
    #[serde(default)]
    pub status_ttl: u64,
    /// The issuer's note.
    pub label: Option<String>,
    /// The claims that only the issuer keeps (`disclosed = "never"`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub kept: Map<String, Value>,
    /// The use of a single-use credential, or its revocation by a delegate; absent if the registry has none.
    #[serde(default)]
    pub used: Option<CredentialUse>,
}

/// The status of a credential.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialStatus {
    /// Valid, as issued.
    Valid,
    /// Revoked for good.
    Revoked,
    /// Suspended for now.
    Suspended,
}

impl CredentialStatus {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Revoked => "revoked",
            Self::Suspended => "suspended",
        }
    }
}

/// Which issued credentials to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhichCredentials {
    /// Only credentials issued from this offer.
    pub offer: Option<String>,
    /// Only credentials whose reference has all these words.
    pub q: Option<String>,
    /// Only credentials with this status.
    pub status: Option<CredentialStatus>,
    /// Only credentials of the type with this id.
    #[serde(rename = "type")]
    pub type_id: Option<String>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// A credential's new status.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStatus {
    /// The new status.
    pub status: CredentialStatus,
}

/// A new status for many credentials.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStatuses {
    /// The new status.
    pub status: CredentialStatus,
    /// The ids of the credentials in the issuer's records: 1 to 1,000.
    #[schema(min_items = 1, max_items = 1000)]
    pub ids: Vec<String>,
}

impl NewStatuses {
    /// The maximum number of ids.
    pub const IDS_MAX: usize = 1_000;
}

/// A signed status list, ready to be served.
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

/// The valid credentials of an issuer, as far as they are counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValidIssued {
    /// Their number among those that were looked through.
    pub count: u64,
    /// Whether there may be more, because not all were looked through.
    pub is_part: bool,
    /// When the last of them expires.
    pub last_expires: Option<UnixTime>,
}

/// A credential whose status changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangedStatus {
    /// Its type.
    pub type_id: String,
    /// Its number in the status list.
    pub number: u64,
}

/// An offer for an application whose proof was found to hold.
pub struct ProvenOffer<'a> {
    /// The offer.
    pub new: &'a NewOffer,
    /// The id of the application.
    pub application: &'a str,
}
