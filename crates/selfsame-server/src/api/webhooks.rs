//! `/api/webhooks`: where events are sent, and the deliveries that wait or were given up.

use selfsame_driver::paging::{Listing, Paging, at_least_one, part};
use selfsame_webhooks::{
    CreatedEndpoint, DeliveryState, EndpointChange, EndpointView, EventReplay, NewEndpoint,
    Replayed, WebhookDelivery, WhichDeliveries,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{created, done, json, told};
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::here::Here;

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
#[utoipa::path(get, path = "/api/webhooks", operation_id = "webhooks_list", tag = "webhooks", params(super::Page), responses((status = 200, body = Listing<EndpointView>)))]
pub async fn list(server: Here, Query(paging): Query<Paging>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    let endpoints = app.webhooks().endpoints(&owner).await?;
    told(part(endpoints, &paging, |one| one.id.clone())?)
}

/// Creates a webhook. The answer alone shows its secret.
#[utoipa::path(post, path = "/api/webhooks", operation_id = "webhooks_create", tag = "webhooks", request_body = NewEndpoint, responses((status = 201, body = CreatedEndpoint)))]
pub async fn create(server: Here, Json(new): Json<NewEndpoint>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    created(&app.webhooks().create(&owner, &new).await?)
}

/// One webhook.
#[utoipa::path(get, path = "/api/webhooks/{id}", operation_id = "webhooks_one", tag = "webhooks", params(("id" = String, Path)), responses((status = 200, body = EndpointView)))]
pub async fn one(server: Here, Path(id): Path<String>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    told(app.webhooks().endpoint(&owner, &id).await?)
}

/// Changes a webhook's URL, description or types, disables it or enables it again.
#[utoipa::path(patch, path = "/api/webhooks/{id}", operation_id = "webhooks_change", tag = "webhooks", params(("id" = String, Path)), request_body = EndpointChange, responses((status = 200, body = EndpointView)))]
pub async fn change(
    server: Here,
    Path(id): Path<String>,
    Json(change): Json<EndpointChange>,
) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    let changed = app.webhooks().change(&owner, &id, change);
    told(changed.await?)
}

/// Removes a webhook with its deliveries.
#[utoipa::path(delete, path = "/api/webhooks/{id}", operation_id = "webhooks_remove", tag = "webhooks", params(("id" = String, Path)), responses((status = 204)))]
pub async fn remove(server: Here, Path(id): Path<String>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    app.webhooks().remove(&owner, &id).await?;
    done()
}

/// Gives a webhook a new secret, which this answer alone shows. The former one signs too for a day.
#[utoipa::path(post, path = "/api/webhooks/{id}/rotate", operation_id = "webhooks_rotate", tag = "webhooks", params(("id" = String, Path)), responses((status = 200, body = CreatedEndpoint)))]
pub async fn rotate(server: Here, Path(id): Path<String>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    json(&app.webhooks().rotate(&owner, &id).await?)
}

/// Sends a message of type `webhook.test`.
#[utoipa::path(post, path = "/api/webhooks/{id}/test", operation_id = "webhooks_test", tag = "webhooks", params(("id" = String, Path)), responses((status = 201, body = WebhookDelivery)))]
pub async fn test(server: Here, Path(id): Path<String>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    created(&app.webhooks().test(&owner, &id).await?)
}

/// Sends the events after a cursor or since a time again, with the ids that their messages had.
#[utoipa::path(post, path = "/api/webhooks/{id}/replay", operation_id = "webhooks_replay", tag = "webhooks", params(("id" = String, Path)), request_body = EventReplay, responses((status = 200, body = Replayed)))]
pub async fn replay(
    server: Here,
    Path(id): Path<String>,
    Json(replay): Json<EventReplay>,
) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    let replayed = app.webhooks().replay(&owner, &id, &replay);
    json(&replayed.await?)
}

/// The deliveries of a webhook that wait or were given up, newest first. Those that were confirmed are not kept.
#[utoipa::path(get, path = "/api/webhooks/{id}/deliveries", operation_id = "webhooks_deliveries", tag = "webhooks", params(("id" = String, Path), DeliveryFilter), responses((status = 200, body = Listing<WebhookDelivery>)))]
pub async fn deliveries(
    server: Here,
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
    let (app, owner) = (server.app(), server.webhook_owner());
    let listed = app.webhooks().deliveries(&owner, &id, &which);
    told(listed.await?)
}

/// Sends a delivery that was given up once more.
#[utoipa::path(post, path = "/api/webhooks/{id}/deliveries/{delivery}/resend", operation_id = "webhooks_resend", tag = "webhooks", params(("id" = String, Path), ("delivery" = String, Path)), responses((status = 200, body = WebhookDelivery)))]
pub async fn resend(server: Here, Path(path): Path<DeliveryPath>) -> Handled {
    let (app, owner) = (server.app(), server.webhook_owner());
    let DeliveryPath { id, delivery } = path;
    let sent = app.webhooks().resend(&owner, &id, &delivery);
    told(sent.await?)
}

/// The place of a delivery.
#[derive(Deserialize)]
pub struct DeliveryPath {
    id: String,
    delivery: String,
}
