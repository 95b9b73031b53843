//! `/api/verifier`: requests, their verdicts, and verifying a single credential.

use std::time::Duration;

use axum::extract::Extension;
use axum::response::sse::Event;
use futures_util::{Stream, StreamExt as _, stream};
use http::HeaderMap;
use selfsame_core::events::EventReader;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_openid::verifier::expiry;
use selfsame_openid::view::verifier::{
    CredentialVerdict, NewRequest, RequestState, VerificationRequest, VerificationStatus,
};
use selfsame_openid::view::words::FormatName;
use serde::Deserialize;
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::{created, json, told};
use crate::auth::Seat;
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::here::Here;
use crate::stream::respond;
use selfsame_endpoints::followed::{Followed, identified};

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
    /// Its format; detected if absent.
    #[serde(default)]
    #[schema(value_type = Option<FormatName>)]
    format: Option<String>,
}

/// Makes a request, from a DCQL query or from a template's claims.
#[utoipa::path(post, path = "/api/verifier/requests", operation_id = "verifier_create_request", tag = "verifier", request_body = NewRequest, responses((status = 201, body = VerificationRequest)))]
pub async fn create(server: Here, Json(new): Json<NewRequest>) -> Handled {
    created(&server.verifier()?.create_request(&new).await?)
}

/// The requests, newest first.
#[utoipa::path(get, path = "/api/verifier/requests", operation_id = "verifier_list_requests", tag = "verifier", params(super::Page), responses((status = 200, body = Listing<VerificationStatus>)))]
pub async fn list(server: Here, Query(paging): Query<Paging>) -> Handled {
    told(server.verifier()?.requests(&paging).await?)
}

/// One request with its verdict, at once or when the verdict is there. A server that stops responds with the current
/// state.
#[utoipa::path(get, path = "/api/verifier/requests/{id}", operation_id = "verifier_get_request", tag = "verifier", params(("id" = String, Path), Wait), responses((status = 200, body = VerificationStatus)))]
pub async fn one(
    server: Here,
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

/// Server-sent events named `state`, each with `{"state"}`, until the request is over. The first is the current state,
/// unless `Last-Event-ID` says that the client has been told it.
#[utoipa::path(get, path = "/api/verifier/requests/{id}/events", operation_id = "verifier_follow_request", tag = "verifier", params(("id" = String, Path)), responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn events(
    server: Here,
    Extension(seat): Extension<Seat>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Handled {
    // The reader begins before the state is read, so that no change is missed in between.
    let Followed { reader, is_resumed } = Followed::by(server.app().events(), &headers).await?;
    let now = server.verifier()?.request(&id).await?;
    // A request expires without an event.
    let is_news = !is_resumed || now.state.is_over();
    let watch = Watch {
        id,
        reader,
        seat,
        last: is_news.then_some(now.state),
        open_for: now.open_for,
        over: false,
    };
    Ok(respond(server.stopped(), states(server.clone(), watch)))
}

/// Verifies a presentation again, with its current status.
#[utoipa::path(post, path = "/api/verifier/requests/{id}/recheck", operation_id = "verifier_recheck_request", tag = "verifier", params(("id" = String, Path)), responses((status = 200, body = VerificationStatus)))]
pub async fn recheck(server: Here, Path(id): Path<String>) -> Handled {
    told(server.verifier()?.recheck(&id).await?)
}

/// Revokes the presented credential on its issuer's behalf, by the handle that was shown and the issuer's delegation.
#[utoipa::path(post, path = "/api/verifier/requests/{id}/revoke", operation_id = "verifier_revoke_credential", tag = "verifier", params(("id" = String, Path), As), responses((status = 200, body = VerificationStatus)))]
pub async fn revoke(server: Here, Path(id): Path<String>, Query(As { by }): Query<As>) -> Handled {
    told(server.verifier()?.revoke(&id, by.as_deref()).await?)
}

/// Verifies a credential by itself, without its holder.
#[utoipa::path(post, path = "/api/verifier/verify", operation_id = "verifier_verify_credential", tag = "verifier", request_body = Bare, responses((status = 200, body = CredentialVerdict)))]
pub async fn verify(server: Here, Json(bare): Json<Bare>) -> Handled {
    let (verifier, format) = (server.verifier()?, bare.format.as_deref());
    json(&verifier.verify(&bare.credential, format).await?)
}

/// A request that is being watched.
struct Watch {
    id: String,
    reader: EventReader,
    /// The session that the watch continues with.
    seat: Seat,
    /// The state that the client was told in this stream.
    last: Option<RequestState>,
    open_for: Option<Duration>,
    over: bool,
}

/// The state to be told first, if there is one, then each new one.
fn states(server: Here, watch: Watch) -> impl Stream<Item = Event> + Send + 'static {
    let first = watch.last.map(|state| event(state, &watch.reader));
    let later = stream::unfold((server, watch), |(server, mut watch)| async move {
        let state = next_state(&server, &mut watch).await?;
        Some((event(state, &watch.reader), (server, watch)))
    });
    stream::iter(first).chain(later)
}

/// Waits until the request's state changes; `None` when the request is over or the session has ended.
async fn next_state(server: &Here, watch: &mut Watch) -> Option<RequestState> {
    watch.over |= watch.last.is_some_and(|state| state.is_over());
    while !watch.over {
        tokio::select! {
            () = expiry(watch.open_for) => {}
            () = news(&mut watch.reader, &watch.id) => {}
        }
        if !watch.seat.holds(server).await {
            return None;
        }
        let now = server.verifier().ok()?.request(&watch.id).await.ok()?;
        watch.open_for = now.open_for;
        if watch.last.replace(now.state) != Some(now.state) {
            return Some(now.state);
        }
    }
    None
}

/// Waits until something may have happened to this request. A missed event may have been about it.
async fn news(reader: &mut EventReader, id: &str) {
    while reader.next().await.is_some_and(|event| event.id != id) {}
}

fn event(state: RequestState, reader: &EventReader) -> Event {
    identified(reader)
        .event("state")
        .json_data(json!({ "state": state }))
        .unwrap_or_default()
}
