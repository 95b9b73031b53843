//! `/api/webhooks`: where events are sent, and the deliveries that wait or were given up.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_driver::paging::{Listing, Paging, at_least_one, part};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::listing::Page;
use selfsame_http::response::{created, done, json, told};
use selfsame_webhooks::{
    CreatedEndpoint, DeliveryState, EndpointChange, EndpointView, EventReplay, NewEndpoint,
    Replayed, WebhookDelivery, WhichDeliveries,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::here::WebhooksHere;

/// Which deliveries to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeliveryFilter {
    /// `pending` or `failed`.
    state: DeliveryState,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// The webhooks, the oldest first.
#[utoipa::path(get, path = "/api/webhooks", operation_id = "webhooks_list", tag = "webhooks", params(Page), responses((status = 200, body = Listing<EndpointView>)))]
pub async fn list(here: WebhooksHere, Query(paging): Query<Paging>) -> Handled {
    let endpoints = here.webhooks.endpoints(&here.owner).await?;
    told(part(endpoints, &paging, |one| one.id.clone())?)
}

/// Creates a webhook. The answer alone shows its secret.
#[utoipa::path(post, path = "/api/webhooks", operation_id = "webhooks_create", tag = "webhooks", request_body = NewEndpoint, responses((status = 201, body = CreatedEndpoint)))]
pub async fn create(here: WebhooksHere, Json(new): Json<NewEndpoint>) -> Handled {
    created(&here.webhooks.create(&here.owner, &new).await?)
}

/// One webhook.
#[utoipa::path(get, path = "/api/webhooks/{id}", operation_id = "webhooks_one", tag = "webhooks", params(("id" = String, Path)), responses((status = 200, body = EndpointView)))]
pub async fn one(here: WebhooksHere, Path(id): Path<String>) -> Handled {
    told(here.webhooks.endpoint(&here.owner, &id).await?)
}

/// Changes a webhook's URL, description or types, disables it or enables it again.
#[utoipa::path(patch, path = "/api/webhooks/{id}", operation_id = "webhooks_change", tag = "webhooks", params(("id" = String, Path)), request_body = EndpointChange, responses((status = 200, body = EndpointView)))]
pub async fn change(
    here: WebhooksHere,
    Path(id): Path<String>,
    Json(change): Json<EndpointChange>,
) -> Handled {
    let changed = here.webhooks.change(&here.owner, &id, change);
    told(changed.await?)
}

/// Removes a webhook with its deliveries.
#[utoipa::path(delete, path = "/api/webhooks/{id}", operation_id = "webhooks_remove", tag = "webhooks", params(("id" = String, Path)), responses((status = 204)))]
pub async fn remove(here: WebhooksHere, Path(id): Path<String>) -> Handled {
    here.webhooks.remove(&here.owner, &id).await?;
    done()
}

/// Gives a webhook a new secret, which this answer alone shows. The former one signs too for a day.
#[utoipa::path(post, path = "/api/webhooks/{id}/rotate", operation_id = "webhooks_rotate", tag = "webhooks", params(("id" = String, Path)), responses((status = 200, body = CreatedEndpoint)))]
pub async fn rotate(here: WebhooksHere, Path(id): Path<String>) -> Handled {
    json(&here.webhooks.rotate(&here.owner, &id).await?)
}

/// Sends a message of type `webhook.test`.
#[utoipa::path(post, path = "/api/webhooks/{id}/test", operation_id = "webhooks_test", tag = "webhooks", params(("id" = String, Path)), responses((status = 201, body = WebhookDelivery)))]
pub async fn test(here: WebhooksHere, Path(id): Path<String>) -> Handled {
    created(&here.webhooks.test(&here.owner, &id).await?)
}

/// Sends the events after a cursor or since a time again, with the ids that their messages had.
#[utoipa::path(post, path = "/api/webhooks/{id}/replay", operation_id = "webhooks_replay", tag = "webhooks", params(("id" = String, Path)), request_body = EventReplay, responses((status = 200, body = Replayed)))]
pub async fn replay(
    here: WebhooksHere,
    Path(id): Path<String>,
    Json(replay): Json<EventReplay>,
) -> Handled {
    let replayed = here.webhooks.replay(&here.owner, &id, &replay);
    json(&replayed.await?)
}

/// The deliveries of a webhook that wait or were given up, newest first. Those that were confirmed are not kept.
#[utoipa::path(get, path = "/api/webhooks/{id}/deliveries", operation_id = "webhooks_deliveries", tag = "webhooks", params(("id" = String, Path), DeliveryFilter), responses((status = 200, body = Listing<WebhookDelivery>)))]
pub async fn deliveries(
    here: WebhooksHere,
    Path(id): Path<String>,
    Query(filter): Query<DeliveryFilter>,
) -> Handled {
    let DeliveryFilter {
        state,
        after,
        limit,
    } = filter;
    let paging = Paging { after, limit };
    let which = WhichDeliveries { state, paging };
    let listed = here.webhooks.deliveries(&here.owner, &id, &which);
    told(listed.await?)
}

/// Sends a delivery that was given up once more.
#[utoipa::path(post, path = "/api/webhooks/{id}/deliveries/{delivery}/resend", operation_id = "webhooks_resend", tag = "webhooks", params(("id" = String, Path), ("delivery" = String, Path)), responses((status = 200, body = WebhookDelivery)))]
pub async fn resend(here: WebhooksHere, Path(path): Path<DeliveryPath>) -> Handled {
    let DeliveryPath { id, delivery } = path;
    let sent = here.webhooks.resend(&here.owner, &id, &delivery);
    told(sent.await?)
}

/// The place of a delivery.
#[derive(Deserialize)]
pub struct DeliveryPath {
    id: String,
    delivery: String,
}
