//! What describes a saved request. docs/saved-requests.md explains each member.

use std::collections::BTreeMap;

use selfsame_credential::Format;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A saved request as its file describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestDefinition {
    /// Its name in links and commands, such as `age-check`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it is for: the person who is asked reads this.
    pub purpose: String,
    /// Whether people can open it by its link and its button.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// Whether the wallet is on the device of the browser that asks; the result then returns to that browser alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub same_device: bool,
    /// Whether to use up the single-use credential that is shown, once it is found valid.
    #[serde(default, skip_serializing_if = "is_false")]
    pub spend: bool,
    /// The origins of the web pages that may embed its button, such as `https://shop.example`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// The policy for the credentials that are shown.
    #[serde(default, skip_serializing_if = "RequestPolicy::is_empty")]
    pub policy: RequestPolicy,
    /// What is asked, as questions; use either these or `dcql_query`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskedQuestion>,
    /// What is asked, as a DCQL query (OpenID4VP 1.0 §6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub dcql_query: Option<Value>,
}

/// One question: one of its alternatives answers it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedQuestion {
    /// Whether the person may leave it unanswered.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// The credentials that answer it, the preferred one first.
    pub alternatives: Vec<AskedAlternative>,
}

/// A credential that answers a question.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedAlternative {
    /// The id of its type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// The formats it may have, the preferred one first. Default: `dc+sd-jwt`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub formats: Vec<Format>,
    /// The paths of the claims to show. Default: those of the type's typical request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<Vec<String>>>,
}

/// The policy for the credentials that are shown.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RequestPolicy {
    /// Maximum age of a status list, in seconds; default: the configured one. 0 asks the issuer each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_status_age: Option<u64>,
    /// The issuers to accept a type from: DIDs, issuer URLs, or names of certificates, by the id of the type, its `vct`
    /// or its W3C type. For a type that is not listed: all issuers that the instance trusts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub trusted_issuers: BTreeMap<String, Vec<String>>,
}

impl RequestPolicy {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
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
