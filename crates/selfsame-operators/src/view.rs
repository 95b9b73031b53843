//! What is shown of people and keys, and what can be asked of them.

use selfsame_core::organisation::OrganisationName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::right::Right;
use crate::role::OperatorRole;

/// An invitation to write.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOperatorInvitation {
    /// The roles that the person gets.
    pub roles: Vec<OperatorRole>,
}

/// An invitation to work for an organisation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OperatorInvitation {
    /// The page on which the person accepts it. It works once.
    pub link: String,
    /// Seconds until it expires.
    pub expires_in: u64,
}

/// What an invitation is for.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Invited {
    /// The organisation.
    pub organisation: OrganisationName,
    /// The roles.
    pub roles: Vec<OperatorRole>,
}

/// A person who works for an organisation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PersonView {
    /// Their id.
    pub id: String,
    /// Their e-mail address.
    pub email: String,
    /// Their roles in this organisation.
    pub roles: Vec<OperatorRole>,
    /// Since when they work for it, RFC 3339.
    pub since: String,
}

/// The roles to give to a person, in place of the present ones.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RolesChange {
    /// The roles; at least one.
    pub roles: Vec<OperatorRole>,
}

/// An API key to create.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// Its name for people, such as the program that uses it; 100 characters at most.
    pub name: String,
    /// Its rights, such as `issuer:write`: only rights that its creator has.
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<Right>,
    /// Days until it expires; 90 by default, 1,096 at most.
    #[serde(default)]
    pub days: Option<u64>,
}

/// A new API key.
#[derive(Clone, Deserialize, Serialize, ToSchema)]
pub struct CreatedKey {
    /// The key itself, a bearer token. It is shown once.
    pub key: String,
    /// What is kept of it.
    #[serde(flatten)]
    pub kept: KeyView,
}

/// An API key.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct KeyView {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its rights.
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<Right>,
    /// Who created it.
    pub creator: String,
    /// When it was created, RFC 3339.
    pub created: String,
    /// When it expires, RFC 3339.
    pub expires: String,
    /// When it was last used, to the minute, RFC 3339; absent before its first use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
}

/// Who is signed in, with their rights in an organisation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct AuthorityView {
    /// `token`, `person` or `key`.
    pub kind: String,
    /// The e-mail address or the name of the key; absent for the operator token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The organisation.
    #[schema(value_type = String)]
    pub organisation: OrganisationName,
    /// The rights in it.
    #[schema(value_type = Vec<String>)]
    pub rights: Vec<Right>,
}
