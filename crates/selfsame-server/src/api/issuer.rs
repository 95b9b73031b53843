//! `/api/issuer`: offers, issued credentials, delegations.

use axum::extract::State;
use selfsame_driver::paging::{Listing, Paging, at_least_one};
use selfsame_openid::view::issuer::{
    CredentialStatus, Delegation, IssuedCredential, NewDelegation, NewOffer, Offer,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{Items, created, json};
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::server::Server;

/// Which issued credentials to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhichCredentials {
    /// Only credentials issued from this offer.
    offer: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// A credential's new status.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStatus {
    status: CredentialStatus,
}

/// Makes an offer, for one use or for many.
#[utoipa::path(post, path = "/api/issuer/offers", tag = "issuer", request_body = NewOffer, responses((status = 201, body = Offer)))]
pub async fn create_offer(State(server): State<Server>, Json(new): Json<NewOffer>) -> Handled {
    created(&server.issuer()?.create_offer(&new).await?)
}

/// The offers, newest first.
#[utoipa::path(get, path = "/api/issuer/offers", tag = "issuer", params(super::Page), responses((status = 200, body = Listing<Offer>)))]
pub async fn offers(State(server): State<Server>, Query(paging): Query<Paging>) -> Handled {
    json(&server.issuer()?.offers(&paging).await?)
}

/// One offer.
#[utoipa::path(get, path = "/api/issuer/offers/{id}", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = Offer)))]
pub async fn offer(State(server): State<Server>, Path(id): Path<String>) -> Handled {
    json(&server.issuer()?.offer(&id).await?)
}

/// The issued credentials, newest first; their claims are not kept.
#[utoipa::path(get, path = "/api/issuer/credentials", tag = "issuer", params(WhichCredentials), responses((status = 200, body = Listing<IssuedCredential>)))]
pub async fn credentials(
    State(server): State<Server>,
    Query(which): Query<WhichCredentials>,
) -> Handled {
    let WhichCredentials {
        offer,
        after,
        limit,
    } = which;
    json(
        &server
            .issuer()?
            .issued(offer.as_deref(), &Paging { after, limit })
            .await?,
    )
}

/// One issued credential.
#[utoipa::path(get, path = "/api/issuer/credentials/{id}", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = IssuedCredential)))]
pub async fn credential(State(server): State<Server>, Path(id): Path<String>) -> Handled {
    json(&server.issuer()?.issued_credential(&id).await?)
}

/// Suspends, reinstates or revokes a credential.
#[utoipa::path(put, path = "/api/issuer/credentials/{id}/status", tag = "issuer", params(("id" = String, Path)), request_body = NewStatus, responses((status = 200, body = IssuedCredential)))]
pub async fn set_status(
    State(server): State<Server>,
    Path(id): Path<String>,
    Json(new): Json<NewStatus>,
) -> Handled {
    json(&server.issuer()?.set_status(&id, new.status).await?)
}

/// Lets another party use up or revoke credentials on the issuer's behalf.
#[utoipa::path(post, path = "/api/issuer/delegations", tag = "issuer", request_body = NewDelegation, responses((status = 201, body = Delegation)))]
pub async fn delegate(State(server): State<Server>, Json(new): Json<NewDelegation>) -> Handled {
    created(&server.issuer()?.delegate(&new).await?)
}

/// The delegations, newest first, including those that have ended.
#[utoipa::path(get, path = "/api/issuer/delegations", tag = "issuer", responses((status = 200, body = Items<Delegation>)))]
pub async fn delegations(State(server): State<Server>) -> Handled {
    let items = server.issuer()?.delegations().await?;
    json(&Items { items })
}

/// Withdraws a delegation. Actions already taken under it remain valid.
#[utoipa::path(delete, path = "/api/issuer/delegations/{id}", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = Delegation)))]
pub async fn withdraw_delegation(State(server): State<Server>, Path(id): Path<String>) -> Handled {
    json(&server.issuer()?.withdraw_delegation(&id).await?)
}
