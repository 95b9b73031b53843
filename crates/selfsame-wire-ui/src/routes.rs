//! The addresses, by who may use them.

use axum::extract::FromRequestParts;
use selfsame_http::error::Problem;
use selfsame_http::route::{Route, described, get, post};
use selfsame_pages::Frame;

use crate::here::WireHere;
use crate::{api, pages};

/// The pages with the switch, and with sign-ins: for those who may see and change the organisation's settings.
pub fn settings<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/wire", pages::switch),
        post("/wire/switch", pages::set),
        post("/wire/erase", pages::erase_all),
        get("/wire/sign-ins", pages::sign_ins),
        get("/wire/sign-ins/{id}", pages::sign_in),
        post("/wire/sign-ins/{id}/erase", pages::erase_sign_in),
    ]
}

/// The pages of issuances, for those who work for the issuer.
pub fn issuer<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/issuer/wire", pages::issuances),
        get("/issuer/wire/{id}", pages::issuance),
        get("/issuer/wire/of/{id}", pages::of_offer),
        post("/issuer/wire/{id}/erase", pages::erase_issuance),
    ]
}

/// The pages of presentations, for those who work for the verifier.
pub fn verifier<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/verifier/wire", pages::presentations),
        get("/verifier/wire/{id}", pages::presentation),
        get("/verifier/wire/of/{id}", pages::of_request),
        post("/verifier/wire/{id}/erase", pages::erase_presentation),
    ]
}

/// The switch and sign-ins, for programs.
pub fn settings_api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_switch, api::switch),
        described(api::__path_set, api::set),
        described(api::__path_erase_all, api::erase_all),
        described(api::__path_sign_ins, api::sign_ins),
        described(api::__path_sign_in, api::sign_in),
        described(api::__path_erase_sign_in, api::erase_sign_in),
    ]
}

/// Issuances, for the programs of the issuer.
pub fn issuer_api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_issuances, api::issuances),
        described(api::__path_issuance, api::issuance),
        described(api::__path_erase_issuance, api::erase_issuance),
    ]
}

/// Presentations, for the programs of the verifier.
pub fn verifier_api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_presentations, api::presentations),
        described(api::__path_presentation, api::presentation),
        described(api::__path_erase_presentation, api::erase_presentation),
    ]
}

/// The pages of what a person's wallet did.
pub fn wallet<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/wallet/wire", pages::own),
        get("/wallet/wire/{id}", pages::own_flow),
        post("/wallet/wire/{id}/erase", pages::erase_own),
    ]
}

/// What a person's wallet did, for their programs.
pub fn wallet_api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_own, api::own),
        described(api::__path_own_flow, api::own_flow),
        described(api::__path_erase_own, api::erase_own),
    ]
}
