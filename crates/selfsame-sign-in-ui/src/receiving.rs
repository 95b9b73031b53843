//! Signing in elsewhere for the credentials of an offer, and the way back (OpenID4VCI 1.0 §5).

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_accounts::Person;
use selfsame_driver::Error;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Query};
use selfsame_http::listing::{Items, Page};
use selfsame_http::response::json;
use selfsame_wallet::Wallet;
use selfsame_wallet::view::sent::SignInReturn;
use selfsame_wallet::view::{AcceptOffer, CardSummary, PreparedCredential, SignInForOffer};
use url::Url;

/// The wallet of the person who calls.
pub struct OwnWallet {
    /// The wallet.
    pub wallet: Arc<Wallet>,
    /// Its owner.
    pub person: Person,
    /// The origin of the instance.
    pub origin: Url,
}

/// Begins the sign-in that an offer needs. The answer leads the person's browser to it.
#[utoipa::path(
    post,
    path = "/api/wallet/offers/sign-in",
    operation_id = "wallet_begin_sign_in",
    tag = "wallet",
    request_body = AcceptOffer,
    responses((status = 200, body = SignInForOffer))
)]
pub async fn begin(own: OwnWallet, Json(accept): Json<AcceptOffer>) -> Handled {
    let begun = own.wallet.sign_in_for(&own.person, &accept).await?;
    let none = || Error::bad_request("offer-without-sign-in");
    json(&begun.ok_or_else(none)?)
}

/// Takes the response of the authorization server at which the person signed in, and receives the cards.
#[utoipa::path(
    post,
    path = "/api/wallet/offers/received",
    operation_id = "wallet_finish_sign_in",
    tag = "wallet",
    request_body = SignInReturn,
    responses((status = 200, body = Items<CardSummary>))
)]
pub async fn finish(own: OwnWallet, Json(back): Json<SignInReturn>) -> Handled {
    let items = own.wallet.received(&own.person, &back.response).await?;
    json(&Items { items })
}

/// The credentials of accepted offers that their issuers still prepare, newest first. A page can have fewer entries than
/// asked for, and a next page.
#[utoipa::path(
    get,
    path = "/api/wallet/offers/preparing",
    operation_id = "wallet_list_preparing",
    tag = "wallet",
    params(Page),
    responses((status = 200, body = Listing<PreparedCredential>))
)]
pub async fn preparing(own: OwnWallet, Query(paging): Query<Paging>) -> Handled {
    json(&own.wallet.prepared(&own.person, &paging).await?)
}

/// Takes the response of the authorization server with the person's browser.
pub async fn page(own: OwnWallet, RawQuery(query): RawQuery) -> Handled {
    let response = query.unwrap_or_default();
    own.wallet.received(&own.person, &response).await?;
    Ok(Redirect::to("/wallet?done=accepted").into_response())
}
