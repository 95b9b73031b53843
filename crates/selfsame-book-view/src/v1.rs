//! The shapes of TheOrgBook's API of 2018, version 1.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An organisation: a topic.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiableOrg {
    /// The number of the topic.
    pub id: i64,
    /// Its number or name in the register that it comes from.
    pub org_id: String,
    /// The number of its type; none.
    pub org_type_id: Option<i64>,
    /// The number of its jurisdiction; none.
    pub jurisdiction_id: Option<i64>,
    /// Its name.
    pub legal_name: String,
    /// From when it is attested, RFC 3339.
    pub effective_date: String,
    /// When that ended; absent while it goes on.
    pub end_date: Option<String>,
}

/// A claim: a credential.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiableClaim {
    /// The number of the credential.
    pub id: i64,
    /// The number of its topic.
    pub verifiable_org_id: i64,
    /// The number of its type.
    pub claim_type: i64,
    /// Its claims as JSON, as far as its type shows them in a book.
    #[serde(rename = "claimJSON")]
    pub claim_json: String,
    /// From when it holds, RFC 3339.
    pub effective_date: String,
    /// When it was revoked, RFC 3339.
    pub end_date: Option<String>,
    /// Why it is not active; none.
    pub inactive_claim_reason_id: Option<i64>,
}

/// A place: an address of a topic.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrgLocation {
    /// The number of the address.
    pub id: i64,
    /// The number of the topic.
    pub verifiable_org_id: i64,
    /// The name under which it does business there; none.
    pub doing_business_as_id: Option<i64>,
    /// The number of the type of the place; none.
    pub location_type_id: Option<i64>,
    /// The addressee.
    pub addressee: Option<String>,
    /// Further lines; none.
    pub addl_delivery_info: Option<String>,
    /// The number of the unit; none.
    pub unit_number: Option<String>,
    /// The lines of the address.
    pub street_address: Option<String>,
    /// The city.
    pub municipality: Option<String>,
    /// The province.
    pub province: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
    /// Its coordinates; none.
    pub lat_long: Option<String>,
}

/// A further name of a topic.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoingBusinessAs {
    /// The number of the name.
    pub id: i64,
    /// The number of the topic.
    pub verifiable_org_id: i64,
    /// The name.
    pub dba_name: String,
}
