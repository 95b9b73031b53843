//! The addresses, by who may use them. `root` is what their paths begin with: `/wallet` or `/operator`.

use axum::extract::FromRequestParts;
use selfsame_http::route::{Route, get, post};
use selfsame_pages::Frame;

use crate::door::{AtDoor, AtSeat};
use crate::wallet_browser::WalletBrowser;
use crate::{account, passkeys, wallet};

/// Creating a wallet and signing in to it.
pub fn wallet_door<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AtDoor: FromRequestParts<S>,
    WalletBrowser: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    let mut routes = vec![
        get("/wallet/sign-in", wallet::page),
        post("/wallet/sign-in", wallet::sign_in),
        get("/wallet/invited", wallet::invited),
        post("/wallet/register", wallet::register),
    ];
    routes.extend(door("/wallet"));
    routes
}

/// Signing in with a passkey.
pub fn door<S>(root: &str) -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AtDoor: FromRequestParts<S>,
{
    vec![
        get(&format!("{root}/passkey/options"), passkeys::options),
        post(&format!("{root}/passkey"), passkeys::sign_in),
    ]
}

/// Leaving a wallet.
pub fn wallet<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WalletBrowser: FromRequestParts<S>,
{
    vec![post("/wallet/sign-out", wallet::sign_out)]
}

/// The account of a person who has signed in.
pub fn account<S>(root: &str) -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AtSeat: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    let at = |path: &str| format!("{root}/account{path}");
    vec![
        get(&at(""), account::page),
        post(&at("/passkeys"), account::begin),
        post(&at("/passkeys/add"), account::add),
        post(&at("/passkeys/{id}/name"), account::rename),
        post(&at("/passkeys/{id}/remove"), account::remove),
    ]
}
