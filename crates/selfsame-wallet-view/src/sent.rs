//! What programs send to a wallet.

use selfsame_core::view::words::KeyKind;
use selfsame_crypto::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

/// An account's e-mail address and password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// The e-mail address.
    pub email: String,
    /// The password: ten characters or more.
    #[schema(value_type = String)]
    pub password: SecretString,
}

/// An account's e-mail address and password, and what permits its creation.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// The e-mail address.
    pub email: String,
    /// The password: ten characters or more, and not a commonly guessed one.
    #[schema(value_type = String)]
    pub password: SecretString,
    /// The invitation, if wallets are made by invitation.
    #[serde(default)]
    pub invitation: Option<String>,
}

/// An empty object: an invitation needs no parameters.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInvitation {}

/// An offer to preview.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferLink {
    /// The offer's link or JSON.
    pub offer: String,
}

/// The response of an authorization server at which the person signed in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInReturn {
    /// The address that the browser was led back to, or its query.
    pub response: String,
}

/// A request to preview or to decline.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestLink {
    /// The request's link, or the `id` of its preview.
    pub request: String,
}

/// A key to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// Its type; default `P-256`.
    #[serde(default)]
    #[schema(value_type = Option<KeyKind>)]
    pub kind: Option<String>,
}
