//! `/api/organisations`: the organisations that this instance hosts beside the one that every instance has.

use axum::extract::State;
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::look::{LookChange, LookView};
use selfsame_core::organisation::view::{
    ErasureForecast, ErasureOrder, NewOrganisation, OrganisationChange, OrganisationView,
};
use selfsame_driver::Error;
use selfsame_driver::paging::{Listing, Paging};

use super::{created, json};
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::here::Here;
use crate::server::Server;

/// Creates an organisation with a key and a DID of its own. A DID of the registry is anchored there before the response.
#[utoipa::path(post, path = "/api/organisations", operation_id = "organisations_create", tag = "organisations", request_body = NewOrganisation, responses((status = 201, body = OrganisationView)))]
pub async fn create(State(server): State<Server>, Json(new): Json<NewOrganisation>) -> Handled {
    created(&server.app().create_organisation(&new).await?)
}

/// The organisations, newest first.
#[utoipa::path(get, path = "/api/organisations", operation_id = "organisations_list", tag = "organisations", params(super::Page), responses((status = 200, body = Listing<OrganisationView>)))]
pub async fn list(State(server): State<Server>, Query(paging): Query<Paging>) -> Handled {
    json(&server.app().organisations().list(&paging).await?)
}

/// One organisation.
#[utoipa::path(get, path = "/api/organisations/{name}", operation_id = "organisations_get", tag = "organisations", params(("name" = String, Path)), responses((status = 200, body = OrganisationView)))]
pub async fn show(State(server): State<Server>, Path(name): Path<String>) -> Handled {
    let organisations = server.app().organisations();
    let found = organisations.find(&OrganisationName::parse(&name)?).await?;
    let found = found.ok_or_else(|| Error::not_found("organisation-unknown"))?;
    json(&organisations.view(&found)?)
}

/// Changes, suspends or reinstates an organisation.
#[utoipa::path(patch, path = "/api/organisations/{name}", operation_id = "organisations_change", tag = "organisations", params(("name" = String, Path)), request_body = OrganisationChange, responses((status = 200, body = OrganisationView)))]
pub async fn change(
    State(server): State<Server>,
    Path(name): Path<String>,
    Json(change): Json<OrganisationChange>,
) -> Handled {
    let organisations = server.app().organisations();
    let name = OrganisationName::parse(&name)?;
    let changed = organisations.change(&name, &change).await?;
    json(&organisations.view(&changed)?)
}

/// What the erasure of an organisation would make unverifiable, and when.
#[utoipa::path(get, path = "/api/organisations/{name}/erasure", operation_id = "organisations_forecast_erasure", tag = "organisations", params(("name" = String, Path)), responses((status = 200, body = ErasureForecast)))]
pub async fn forecast(State(server): State<Server>, Path(name): Path<String>) -> Handled {
    let name = OrganisationName::parse(&name)?;
    json(&server.app().erasure_forecast(&name).await?)
}

/// Erases an organisation for good. What it has of people is removed at once. What others need to verify the
/// credentials that it issued is kept for a time, or with `now` destroyed too.
#[utoipa::path(post, path = "/api/organisations/{name}/erase", operation_id = "organisations_erase", tag = "organisations", params(("name" = String, Path)), request_body = ErasureOrder, responses((status = 200, body = OrganisationView)))]
pub async fn erase(
    State(server): State<Server>,
    Path(name): Path<String>,
    Json(order): Json<ErasureOrder>,
) -> Handled {
    let name = OrganisationName::parse(&name)?;
    json(&server.app().erase_organisation(&name, &order).await?)
}

/// How the organisation looks: its logo and its colour.
#[utoipa::path(get, path = "/api/look", operation_id = "organisations_get_look", tag = "organisations", responses((status = 200, body = LookView)))]
pub async fn look(server: Here) -> Handled {
    json(&server.roles().look().await?)
}

/// Changes the logo or the colour of the organisation.
#[utoipa::path(patch, path = "/api/look", operation_id = "organisations_change_look", tag = "organisations", request_body = LookChange, responses((status = 200, body = LookView)))]
pub async fn change_look(server: Here, Json(change): Json<LookChange>) -> Handled {
    json(&server.app().change_look(server.roles(), &change).await?)
}
