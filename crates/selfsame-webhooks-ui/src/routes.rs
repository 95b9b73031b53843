//! The addresses.

use axum::extract::FromRequestParts;
use selfsame_http::error::Problem;
use selfsame_http::route::{Route, described, get, post};
use selfsame_pages::Frame;

use crate::here::WebhooksHere;
use crate::{api, pages};

/// The pages.
pub fn pages<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WebhooksHere: FromRequestParts<S, Rejection = Problem>,
    Frame: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        get("/webhooks", pages::list),
        post("/webhooks", pages::create),
        get("/webhooks/{id}", pages::page),
        post("/webhooks/{id}", pages::change),
        post("/webhooks/{id}/enabled", pages::set_enabled),
        post("/webhooks/{id}/rotate", pages::rotate),
        post("/webhooks/{id}/test", pages::test),
        post("/webhooks/{id}/replay", pages::replay),
        post("/webhooks/{id}/remove", pages::remove),
        post("/webhooks/{id}/deliveries/{delivery}/resend", pages::resend),
    ]
}

/// The same for programs.
pub fn api<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    WebhooksHere: FromRequestParts<S, Rejection = Problem>,
{
    vec![
        described(api::__path_list, api::list),
        described(api::__path_create, api::create),
        described(api::__path_one, api::one),
        described(api::__path_change, api::change),
        described(api::__path_remove, api::remove),
        described(api::__path_rotate, api::rotate),
        described(api::__path_test, api::test),
        described(api::__path_replay, api::replay),
        described(api::__path_deliveries, api::deliveries),
        described(api::__path_resend, api::resend),
    ]
}
