//! `/api/issuer`: offers, issued credentials, delegations.

use std::time::Duration;

use axum::extract::Extension;
use axum::response::sse::Event;
use futures_util::{Stream, stream};
use http::HeaderMap;
use selfsame_app::StatusActor;
use selfsame_core::events::{EventKind, EventReader};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_openid::view::issuer::{
    Delegation, IssuedCredential, NewDelegation, NewOffer, NewOffers, NewStatus, NewStatuses,
    Offer, OfferState, WhichCredentials,
};
use serde::Serialize;

use super::{Items, created, json};
use crate::auth::Seat;
use crate::error::Handled;
use crate::extract::{Json, Path, Query, Working};
use crate::here::Here;
use crate::peer::Peer;
use crate::stream::respond;
use selfsame_endpoints::followed::{Followed, identified};

/// How long a stream waits after a credential was issued, so that many credentials cost one look at the offer.
const GATHERED_FOR: Duration = Duration::from_millis(200);
/// How often a stream looks at its offer without an event: an offer expires without one.
const LOOKED_EVERY: Duration = Duration::from_secs(30);

/// Makes an offer, for one use or for many.
#[utoipa::path(post, path = "/api/issuer/offers", operation_id = "issuer_create_offer", tag = "issuer", request_body = NewOffer, responses((status = 201, body = Offer)))]
pub async fn create_offer(server: Here, Json(new): Json<NewOffer>) -> Handled {
    created(&server.issuer()?.create_offer(&new).await?)
}

/// Makes offers of one type, one for each row: all of them, or none if a row is refused. Their order is that of the rows.
#[utoipa::path(post, path = "/api/issuer/offers/bulk", operation_id = "issuer_create_offers", tag = "issuer", request_body = NewOffers, responses((status = 201, body = Items<Offer>)))]
pub async fn create_offers(server: Here, Json(new): Json<NewOffers>) -> Handled {
    let items = server.issuer()?.create_offers(new).await?;
    created(&Items { items })
}

/// The offers, newest first.
#[utoipa::path(get, path = "/api/issuer/offers", operation_id = "issuer_list_offers", tag = "issuer", params(super::Page), responses((status = 200, body = Listing<Offer>)))]
pub async fn offers(server: Here, Query(paging): Query<Paging>) -> Handled {
    json(&server.issuer()?.offers(&paging).await?)
}

/// One offer.
#[utoipa::path(get, path = "/api/issuer/offers/{id}", operation_id = "issuer_get_offer", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = Offer)))]
pub async fn offer(server: Here, Path(id): Path<String>) -> Handled {
    json(&server.issuer()?.offer(&id).await?)
}

/// Server-sent events named `state`, each with `{"state", "uses_left"}`, until the offer is not open any more. The
/// first is the current state.
#[utoipa::path(get, path = "/api/issuer/offers/{id}/events", operation_id = "issuer_follow_offer", tag = "issuer", params(("id" = String, Path)), responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn offer_events(
    server: Here,
    Extension(seat): Extension<Seat>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Handled {
    // The reader begins before the offer is read, so that no change is missed in between.
    let Followed { reader, .. } = Followed::by(server.app().events(), &headers).await?;
    let now = OfferNews::of(&server.issuer()?.offer(&id).await?);
    let watch = OfferWatch {
        id,
        reader,
        seat,
        next: Some(now.clone()),
        last: now,
    };
    Ok(respond(
        server.stopped(),
        offer_states(server.clone(), watch),
    ))
}

/// What is told of an offer.
#[derive(Clone, Eq, PartialEq, Serialize)]
struct OfferNews {
    state: OfferState,
    uses_left: u32,
}

impl OfferNews {
    fn of(offer: &Offer) -> Self {
        Self {
            state: offer.state,
            uses_left: offer.uses_left,
        }
    }
}

/// An offer that is being watched.
struct OfferWatch {
    id: String,
    reader: EventReader,
    /// The session that the watch continues with.
    seat: Seat,
    /// What is told next, if it is known already.
    next: Option<OfferNews>,
    last: OfferNews,
}

impl OfferWatch {
    /// Waits until there is something new; `None` when the offer is over or the session has ended.
    async fn news(&mut self, server: &Here) -> Option<OfferNews> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        while self.last.state == OfferState::Open {
            tokio::select! {
                () = issued(&mut self.reader) => tokio::time::sleep(GATHERED_FOR).await,
                () = tokio::time::sleep(LOOKED_EVERY) => {}
            }
            if !self.seat.holds(server).await {
                return None;
            }
            // What was told meanwhile shows in the offer, which is read after this.
            self.reader = server.app().events().reader().await.ok()?;
            let now = OfferNews::of(&server.issuer().ok()?.offer(&self.id).await.ok()?);
            if now != self.last {
                self.last = now.clone();
                return Some(now);
            }
        }
        None
    }
}

/// Waits until a credential may have been issued. A missed event may have said so.
async fn issued(reader: &mut EventReader) {
    let is_other = |event: selfsame_core::events::Event| event.kind != EventKind::Issued;
    while reader.next().await.is_some_and(is_other) {}
}

fn offer_states(server: Here, watch: OfferWatch) -> impl Stream<Item = Event> + Send + 'static {
    stream::unfold((server, watch), |(server, mut watch)| async move {
        let news = watch.news(&server).await?;
        let event = identified(&watch.reader).event("state").json_data(&news);
        Some((event.unwrap_or_default(), (server, watch)))
    })
}

/// The issued credentials, newest first; their claims are not kept. With a filter, a page can have fewer entries than asked
/// for, and a next page.
#[utoipa::path(get, path = "/api/issuer/credentials", operation_id = "issuer_list_credentials", tag = "issuer", params(WhichCredentials), responses((status = 200, body = Listing<IssuedCredential>)))]
pub async fn credentials(server: Here, Query(which): Query<WhichCredentials>) -> Handled {
    let lists = server.app().issuing_lists();
    json(&lists.issued(server.roles(), &which).await?)
}

/// One issued credential.
#[utoipa::path(get, path = "/api/issuer/credentials/{id}", operation_id = "issuer_get_credential", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = IssuedCredential)))]
pub async fn credential(server: Here, Path(id): Path<String>) -> Handled {
    json(&server.issuer()?.issued_credential(&id).await?)
}

/// Suspends, reinstates or revokes a credential.
#[utoipa::path(put, path = "/api/issuer/credentials/{id}/status", operation_id = "issuer_set_status", tag = "issuer", params(("id" = String, Path)), request_body = NewStatus, responses((status = 200, body = IssuedCredential)))]
pub async fn set_status(
    server: Here,
    Path(id): Path<String>,
    Json(new): Json<NewStatus>,
) -> Handled {
    json(&server.issuer()?.set_status(&id, new.status).await?)
}

/// Suspends, reinstates or revokes credentials: all of them, or none if an id is refused. Credentials that have the status
/// already stay as they are.
#[utoipa::path(post, path = "/api/issuer/credentials/status", operation_id = "issuer_set_statuses", tag = "issuer", request_body = NewStatuses, responses((status = 200, body = Items<IssuedCredential>)))]
pub async fn set_statuses(
    server: Here,
    work: Working,
    Extension(peer): Extension<Peer>,
    Json(new): Json<NewStatuses>,
) -> Handled {
    let by = StatusActor {
        authority: &work.authority,
        organisation: &work.organisation,
        from: &peer.address().to_string(),
    };
    let app = server.app();
    let items = app.change_statuses(server.issuer()?, by, &new).await?;
    json(&Items { items })
}

/// Lets another party use up or revoke credentials on the issuer's behalf.
#[utoipa::path(post, path = "/api/issuer/delegations", operation_id = "issuer_create_delegation", tag = "issuer", request_body = NewDelegation, responses((status = 201, body = Delegation)))]
pub async fn delegate(server: Here, Json(new): Json<NewDelegation>) -> Handled {
    created(&server.issuer()?.delegate(&new).await?)
}

/// The delegations, newest first, including those that have ended.
#[utoipa::path(get, path = "/api/issuer/delegations", operation_id = "issuer_list_delegations", tag = "issuer", params(super::Page), responses((status = 200, body = Listing<Delegation>)))]
pub async fn delegations(server: Here, Query(paging): Query<Paging>) -> Handled {
    json(&server.issuer()?.delegations(&paging).await?)
}

/// Withdraws a delegation. Actions already taken under it remain valid.
#[utoipa::path(delete, path = "/api/issuer/delegations/{id}", operation_id = "issuer_withdraw_delegation", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = Delegation)))]
pub async fn withdraw_delegation(server: Here, Path(id): Path<String>) -> Handled {
    json(&server.issuer()?.withdraw_delegation(&id).await?)
}
