//! The addresses, by who may use them. `root` is what their paths begin with: `/wallet` or `/operator`.

use axum::extract::FromRequestParts;
use selfsame_http::error::Problem;
use selfsame_http::route::{Route, described, get, post};
use selfsame_oidc_endpoints::ProviderHere;
use selfsame_pages::Frame;

use crate::door::{AtDoor, AtSeat};
use crate::receiving::OwnWallet;
use crate::wallet_browser::WalletBrowser;
use crate::{
    account, authenticator, cards, clients, leaving, passkeys, provider, receiving, recovering,
    wallet,
};

pub use crate::recovering::COPY_FORM_MAX;

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

/// The cards of a wallet and their groups, leaving it, and coming back to it from an authorization server.
pub fn wallet<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WalletBrowser: FromRequestParts<S>,
    OwnWallet: FromRequestParts<S>,
    AtSeat: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/wallet", cards::page),
        get("/wallet/groups", cards::groups_page),
        get("/wallet/account/everything", leaving::everything),
        post("/wallet/account/delete", leaving::leave_page),
        post("/wallet/sign-out", wallet::sign_out),
        get("/wallet/received", receiving::page).abroad(),
    ]
}

/// Recovery words, a copy under them, and restoring from it. Bodies have up to [`COPY_FORM_MAX`] bytes.
pub fn recovery<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    OwnWallet: FromRequestParts<S>,
    AtSeat: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/wallet/recovery", recovering::page),
        post("/wallet/recovery/words", recovering::words),
        post("/wallet/recovery/copy", recovering::copy),
        post("/wallet/recovery/restore", recovering::restore),
    ]
}

/// The list of cards, signing in for an offer, taking everything along and leaving, for a person's programs.
pub fn receiving<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    OwnWallet: FromRequestParts<S>,
{
    vec![
        described(cards::__path_list, cards::list),
        described(cards::__path_groups, cards::groups),
        described(receiving::__path_begin, receiving::begin).abroad(),
        described(receiving::__path_finish, receiving::finish).abroad(),
        described(receiving::__path_preparing, receiving::preparing),
        described(leaving::__path_everything, leaving::everything),
        described(leaving::__path_leave, leaving::leave),
    ]
}

/// The account of a person who has signed in.
pub fn account<S>(root: &str) -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AtSeat: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    let at = |path: &str| format!("{root}/account{path}");
    let mut routes = vec![
        get(&at(""), account::page),
        post(&at("/passkeys"), account::begin),
        post(&at("/passkeys/add"), account::add),
        post(&at("/passkeys/{id}/name"), account::rename),
        post(&at("/passkeys/{id}/remove"), account::remove),
    ];
    // Sign-ins at the OpenID provider ask holders for their app.
    if root == "/wallet" {
        routes.extend([
            post(&at("/app"), authenticator::begin),
            post(&at("/app/confirm"), authenticator::confirm),
            post(&at("/app/remove"), authenticator::remove),
        ]);
    }
    routes
}

/// The pages of a sign-in at the OpenID provider of an organisation.
pub fn provider<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    ProviderHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
    AtDoor: FromRequestParts<S>,
{
    vec![
        get("/sign-in/{id}", provider::page),
        get("/sign-in/{id}/code", provider::back),
        post("/sign-in/{id}/code", provider::send_code),
        get("/sign-in/{id}/proof", provider::back),
        post("/sign-in/{id}/proof", provider::prove),
        get("/sign-in/{id}/agreement", provider::back),
        post("/sign-in/{id}/agreement", provider::decide),
        get("/sign-in/{id}/passkey", provider::passkey),
        post("/sign-in/{id}/passkey", provider::prove_passkey),
        get("/sign-in/{id}/upstream", provider::upstream).abroad(),
        get("/oidc/upstream", provider::returned),
        get("/sign-in/{id}/wallet", provider::wallet),
        get("/sign-in/{id}/wallet/{request}", provider::presented),
        get("/signed-in/sessions", provider::sessions),
        post("/signed-in/sessions/end-others", provider::end_others),
        post("/signed-in/sessions/{id}/end", provider::end_session),
        get("/signed-in/passkeys", provider::passkeys),
        post("/signed-in/passkeys", provider::begin_passkey),
        post("/signed-in/passkeys/add", provider::add_passkey),
        post("/signed-in/passkeys/{id}/name", provider::rename_passkey),
        post("/signed-in/passkeys/{id}/remove", provider::remove_passkey),
        get("/signed-in/agreements", provider::agreements),
        post("/signed-in/agreements/{id}/end", provider::take_back),
    ]
}

/// The pages of the services at which people sign in, for those who work for the organisation.
pub fn clients<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    ProviderHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/clients", clients::list),
        post("/clients", clients::create),
        get("/clients/{id}", clients::page),
        post("/clients/{id}/secret", clients::new_secret),
        post("/clients/{id}/remove", clients::remove),
    ]
}
