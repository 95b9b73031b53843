//! Whom the places are counted for, of requests that wait for other hosts.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::AUTHORIZATION;
use selfsame_crypto::hash::sha256;
use selfsame_http::extract::bearer;
use selfsame_http::middleware::turns::{Turns, Whom};

use crate::auth::Seat;
use crate::here::Here;
use crate::server::Server;

/// Lets a request wait among requests of its kind. It gives up its place behind its group's gate, so that others are
/// answered meanwhile.
pub async fn abroad(State(turns): State<Turns>, request: Request, next: Next) -> Response {
    let whom = match request.extensions().get::<Seat>() {
        Some(Seat::Person { person, .. }) => Some(Whom::Account(person.tenant.to_string())),
        _ => Whom::sender(&request),
    };
    turns.wait(whom, request, next).await
}

/// Like [`abroad`], for a credential request, if a proof in it names a DID that another host must resolve. The access
/// token counts too, since its holder may use many networks. It counts first: a request that waits for it must not
/// hold a place of a network.
pub async fn abroad_for_proofs(
    State((turns, server)): State<(Turns, Server)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    // The body has arrived already and is within its limit.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut asks_others = false;
    if let Ok(here) = Here::of(&server, &parts.extensions, &parts.method).await {
        asks_others = here.issuer().is_ok_and(|issuer| issuer.asks_others(&body));
        parts.extensions.insert(here);
    }
    let request = Request::from_parts(parts, Body::from(body));
    if !asks_others {
        return next.run(request).await;
    }
    let token = request.headers().get(AUTHORIZATION).and_then(bearer);
    let token = token.map(|token| Whom::Token(sha256(token.as_bytes())));
    let whom: Vec<_> = token.into_iter().chain(Whom::sender(&request)).collect();
    turns.wait(whom, request, next).await
}
