//! `/api/verifier`: requests, their verdicts, and verifying a single credential.

use std::time::Duration;

use axum::extract::{Extension, State};
use axum::response::sse::Event;
use futures_util::{Stream, StreamExt as _, stream};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_openid::verifier::expiry;
use selfsame_openid::view::verifier::{
    CredentialVerdict, NewRequest, RequestState, VerificationRequest, VerificationStatus,
};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::{self, error::RecvError};
use utoipa::{IntoParams, ToSchema};

use super::{created, json, told};
use crate::auth::Seat;
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::server::Server;
use crate::stream::respond;

/// The longest wait for a verdict, in seconds; a caller may ask again.
const WAIT_MAX: u64 = 25;

/// How long to wait for a verdict.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wait {
    /// Respond when the request has ended, or after this many seconds (25 at most), whichever comes first.
    #[serde(default)]
    wait: u64,
}

/// The DID to act as.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct As {
    /// A `did:selfsame` of this instance; by default the request's spender, or the verifier's own.
    by: Option<String>,
}

/// A credential to verify without its holder.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Bare {
    /// The credential as it was issued.
    credential: String,
    /// `dc+sd-jwt`, `jwt_vc_json` or `vc+jwt`; detected if absent.
    #[serde(default)]
    format: Option<String>,
}

/// Makes a request, from a DCQL query or from a template's claims.
#[utoipa::path(post, path = "/api/verifier/requests", tag = "verifier", request_body = NewRequest, responses((status = 201, body = VerificationRequest)))]
pub async fn create(State(server): State<Server>, Json(new): Json<NewRequest>) -> Handled {
    created(&server.verifier()?.create_request(&new).await?)
}

/// The requests, newest first.
#[utoipa::path(get, path = "/api/verifier/requests", tag = "verifier", params(super::Page), responses((status = 200, body = Listing<VerificationStatus>)))]
pub async fn list(State(server): State<Server>, Query(paging): Query<Paging>) -> Handled {
    told(server.verifier()?.requests(&paging).await?)
}

/// One request with its verdict, at once or when the verdict is there. A server that stops responds with the current
/// state.
#[utoipa::path(get, path = "/api/verifier/requests/{id}", tag = "verifier", params(("id" = String, Path), Wait), responses((status = 200, body = VerificationStatus)))]
pub async fn one(
    State(server): State<Server>,
    Path(id): Path<String>,
    Query(Wait { wait }): Query<Wait>,
) -> Handled {
    let verifier = server.verifier()?;
    if wait == 0 {
        return told(verifier.request(&id).await?);
    }
    let status = tokio::select! {
        status = verifier.wait(&id, wait.min(WAIT_MAX)) => status?,
        () = server.stopped() => verifier.request(&id).await?,
    };
    told(status)
}

/// Server-sent events named `state`, each with `{"state"}`, until the request is over.
#[utoipa::path(get, path = "/api/verifier/requests/{id}/events", tag = "verifier", params(("id" = String, Path)), responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn events(
    State(server): State<Server>,
    Extension(seat): Extension<Seat>,
    Path(id): Path<String>,
) -> Handled {
    // Subscribe before reading the state, so that no change is missed in between.
    let told = server.app().events().listen();
    let first = server.verifier()?.request(&id).await?;
    Ok(respond(
        server.stopped(),
        states(
            server.clone(),
            Watch {
                id,
                told,
                seat,
                last: first.state,
                open_for: first.open_for,
                over: false,
            },
            first.state,
        ),
    ))
}

/// Verifies a presentation again, with its current status.
#[utoipa::path(post, path = "/api/verifier/requests/{id}/recheck", tag = "verifier", params(("id" = String, Path)), responses((status = 200, body = VerificationStatus)))]
pub async fn recheck(State(server): State<Server>, Path(id): Path<String>) -> Handled {
    told(server.verifier()?.recheck(&id).await?)
}

/// Revokes the presented credential on its issuer's behalf, by the handle that was shown and the issuer's delegation.
#[utoipa::path(post, path = "/api/verifier/requests/{id}/revoke", tag = "verifier", params(("id" = String, Path), As), responses((status = 200, body = VerificationStatus)))]
pub async fn revoke(
    State(server): State<Server>,
    Path(id): Path<String>,
    Query(As { by }): Query<As>,
) -> Handled {
    told(server.verifier()?.revoke(&id, by.as_deref()).await?)
}

/// Verifies a credential by itself, without its holder.
#[utoipa::path(post, path = "/api/verifier/verify", tag = "verifier", request_body = Bare, responses((status = 200, body = CredentialVerdict)))]
pub async fn verify(State(server): State<Server>, Json(bare): Json<Bare>) -> Handled {
    json(
        &server
            .verifier()?
            .verify(&bare.credential, bare.format.as_deref())
            .await?,
    )
}

/// A request that is being watched.
struct Watch {
    id: String,
    told: broadcast::Receiver<selfsame_core::events::Event>,
    /// The session that the watch continues with.
    seat: Seat,
    last: RequestState,
    open_for: Option<Duration>,
    over: bool,
}

/// The current state, then each new one.
fn states(
    server: Server,
    watch: Watch,
    first: RequestState,
) -> impl Stream<Item = Event> + Send + 'static {
    let later = stream::unfold((server, watch), |(server, mut watch)| async move {
        let state = next_state(&server, &mut watch).await?;
        Some((event(state), (server, watch)))
    });
    stream::iter([event(first)]).chain(later)
}

/// Waits until the request's state changes; `None` when the request is over or no more news can come.
async fn next_state(server: &Server, watch: &mut Watch) -> Option<RequestState> {
    watch.over |= watch.last.is_over();
    while !watch.over {
        tokio::select! {
            () = expiry(watch.open_for) => {}
            told = news(&mut watch.told, &watch.id) => told?,
        }
        if !watch.seat.holds(server).await {
            return None;
        }
        let now = server.verifier().ok()?.request(&watch.id).await.ok()?;
        watch.open_for = now.open_for;
        if now.state != watch.last {
            watch.last = now.state;
            return Some(now.state);
        }
    }
    None
}

/// Waits until something may have happened to this request; `None` when no more events will come.
async fn news(
    told: &mut broadcast::Receiver<selfsame_core::events::Event>,
    id: &str,
) -> Option<()> {
    loop {
        match told.recv().await {
            Ok(event) if event.id != id => {}
            // A missed event may have been about this request.
            Ok(_) | Err(RecvError::Lagged(_)) => return Some(()),
            Err(RecvError::Closed) => return None,
        }
    }
}

fn event(state: RequestState) -> Event {
    Event::default()
        .event("state")
        .json_data(json!({ "state": state }))
        .unwrap_or_default()
}
