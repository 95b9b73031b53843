//! The addresses, by who may use them.

use axum::extract::FromRequestParts;
use selfsame_http::error::Problem;
use selfsame_http::route::{Route, described, get, post};
use selfsame_pages::Frame;

use crate::here::{BrowserHere, WindowHere};
use crate::{api, asked, window};

/// Requests by browsers, for the programs of a verifier.
pub fn verifier_api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BrowserHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_request, api::request),
        described(api::__path_answer, api::answer).abroad(),
    ]
}

/// The pages of a verifier, for those who work for it.
pub fn verifier<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BrowserHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/verifier/view/{id}/browser", asked::request),
        post("/verifier/view/{id}/browser", asked::answer).abroad(),
    ]
}

/// The pages of saved requests, for visitors.
pub fn visitors<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BrowserHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/ask/{name}/{id}/browser", asked::visitors_request),
        post("/ask/{name}/{id}/browser", asked::visitors_answer).abroad(),
    ]
}

/// The window that another site's page opens to ask a person's wallet.
pub fn wallet<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WindowHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/wallet/browser", window::page),
        post("/wallet/browser/request", window::request).abroad(),
        post("/wallet/browser/answer", window::answer).abroad(),
    ]
}

/// Requests by browsers, for a person's programs.
pub fn wallet_api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WindowHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![described(api::__path_preview, api::preview).abroad()]
}
