//! The addresses, by the rights that they need.

use axum::extract::FromRequestParts;
use selfsame_http::route::{Route, get, post};
use selfsame_pages::Frame;

use crate::here::AgentHere;
use crate::{ask, connections, exchanges, invitations, issue, registries};

/// Connections and invitations.
pub fn connections<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AgentHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/agent", connections::list),
        get("/agent/connections/{id}", connections::page),
        post("/agent/connections/{id}/accept", connections::accept).abroad(),
        post("/agent/connections/{id}/ping", connections::ping),
        post("/agent/connections/{id}/message", connections::write),
        post("/agent/connections/{id}/features", connections::ask),
        post("/agent/connections/{id}/remove", connections::remove),
        get("/agent/invitations", invitations::list),
        post("/agent/invitations", invitations::make),
        get("/agent/invitations/{id}", invitations::page),
        post("/agent/invitations/{id}/remove", invitations::remove),
        post("/agent/received", invitations::receive).abroad(),
    ]
}

/// What is issued, and the revocation registries.
pub fn issued<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AgentHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/agent/issue", issue::page),
        post("/agent/issue", issue::act).abroad(),
        get("/agent/issuing", exchanges::issuing),
        get("/agent/issuing/{id}", exchanges::issued),
        get("/agent/registries", registries::list),
        get("/agent/registry", registries::page),
        post("/agent/registry/revoke", registries::revoke),
        post("/agent/registry/publish", registries::publish),
        post("/agent/registry/clear", registries::clear),
    ]
}

/// What is proven.
pub fn proofs<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    AgentHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/agent/ask", ask::page),
        post("/agent/ask", ask::act).abroad(),
        get("/agent/proofs", exchanges::proofs),
        get("/agent/proofs/{id}", exchanges::proof),
    ]
}
