//! Requests that wait for a decision, as clerks and programs see them.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_driver::paging::at_least_one;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// A request for a credential that needs an approval.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Approval {
    /// Its id; the wallet does not know it.
    pub id: String,
    /// The id of the credential's type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// The credential's format.
    pub format: String,
    /// The id of the offer; empty if the person signed in without one.
    pub offer: String,
    /// The issuer's note.
    pub label: Option<String>,
    /// How many copies the wallet asked for, each for a key of its own.
    pub copies: usize,
    /// What has become of it.
    pub state: ApprovalState,
    /// When the wallet asked, RFC 3339.
    pub asked: String,
    /// Until when the wallet can fetch the credential, RFC 3339.
    pub expires: String,
    /// When it was approved, refused or fetched, RFC 3339.
    #[serde(default)]
    pub decided: Option<String>,
    /// Why it was refused; not sent to the wallet.
    #[serde(default)]
    pub reason: Option<String>,
    /// What the credential will say. Lists leave it out, and so does a request that is refused or whose credential was
    /// fetched.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
}

/// A claim as it stands in a credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlainClaim {
    /// The names that lead to it, such as `address.city`.
    pub name: String,
    /// Its value: a text as it is, anything else as JSON.
    pub value: String,
}

impl Approval {
    /// What the credential will say, for those who do not have its type.
    #[must_use]
    pub fn plain_claims(&self) -> Vec<PlainClaim> {
        let mut found = Vec::new();
        add_plain(&mut found, "", &self.claims);
        found
    }
}

fn add_plain(found: &mut Vec<PlainClaim>, within: &str, claims: &Map<String, Value>) {
    for (name, value) in claims {
        let name = match within {
            "" => name.clone(),
            _ => format!("{within}.{name}"),
        };
        let value = match value {
            Value::Object(inner) if !inner.is_empty() => {
                add_plain(found, &name, inner);
                continue;
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        found.push(PlainClaim { name, value });
    }
}

/// What has become of a request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has decided yet.
    Waiting,
    /// It was approved, and the wallet has not fetched the credential yet.
    Approved,
    /// It was refused.
    Refused,
    /// The wallet has fetched the credential.
    Issued,
}

impl ApprovalState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Approved, Self::Refused, Self::Issued];

    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Issued => "issued",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// Which requests to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhichApprovals {
    /// Only requests in this state; default: those that wait.
    pub state: Option<ApprovalState>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// A refusal.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRefusal {
    /// Why, for those who work for the issuer; up to 500 characters.
    #[serde(default)]
    pub reason: Option<String>,
}
