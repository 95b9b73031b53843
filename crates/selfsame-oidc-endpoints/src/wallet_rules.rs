//! The rules of an organisation for signing in with a credential from a wallet.

use selfsame_driver::Error;
use selfsame_http::error::Handled;
use selfsame_http::extract::Json;
use selfsame_http::response::{done, json};
use serde_json::Value;

use crate::here::ProviderHere;

/// The rules.
#[utoipa::path(
    get,
    path = "/api/sign-in/wallet",
    tag = "sign-in",
    operation_id = "sign_in_get_wallet_rules",
    responses((status = 200, description = "The credentials that people sign in with, and what their claims mean.", body = Value))
)]
pub async fn rules(here: ProviderHere) -> Handled {
    let tenant = &here.provider.place().tenant;
    let rules = here.provider.wallet_settings()?.settings(tenant).await?;
    json(&rules.ok_or_else(|| Error::not_found("sign-in-wallet-unset"))?)
}

/// Sets the rules.
#[utoipa::path(
    put,
    path = "/api/sign-in/wallet",
    tag = "sign-in",
    operation_id = "sign_in_set_wallet_rules",
    request_body(content = Value, description = "`purpose`, `other_device`, and `credentials` with `title`, `type`, `format`, `issuers`, `subject` and `claims`."),
    responses((status = 200, description = "The rules; people can sign in by them at once.", body = Value))
)]
pub async fn set_rules(here: ProviderHere, Json(rules): Json<Value>) -> Handled {
    let tenant = &here.provider.place().tenant;
    let settings = here.provider.wallet_settings()?;
    json(&settings.set(tenant, rules).await?)
}

/// Ends sign-in with a credential.
#[utoipa::path(
    delete,
    path = "/api/sign-in/wallet",
    tag = "sign-in",
    operation_id = "sign_in_remove_wallet_rules",
    responses((status = 204, description = "Sign-in with a credential is switched off."))
)]
pub async fn remove_rules(here: ProviderHere) -> Handled {
    let tenant = &here.provider.place().tenant;
    here.provider.wallet_settings()?.remove(tenant).await?;
    done()
}
