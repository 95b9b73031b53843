//! `/api/trust`: the issuers that the verifier of an organisation trusts, in addition to those of the instance.

use selfsame_core::organisation::trust::{NewTrustedIssuer, TrustedIssuer};
use selfsame_driver::paging::{Listing, Paging, part};

use super::{done, json};
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::here::Here;

/// The issuers that the organisation trusts, in the order in which they were added.
#[utoipa::path(get, path = "/api/trust", operation_id = "verifier_list_trusted_issuers", tag = "verifier", params(super::Page), responses((status = 200, body = Listing<TrustedIssuer>)))]
pub async fn list(server: Here, Query(paging): Query<Paging>) -> Handled {
    let list = server.verifier()?.trust().now().await?;
    json(&part(list.entries.clone(), &paging, |one| one.id.clone())?)
}

/// Trusts an issuer from now on. One that is trusted already gets the new name and the new types.
#[utoipa::path(post, path = "/api/trust", operation_id = "verifier_trust_issuer", tag = "verifier", request_body = NewTrustedIssuer, responses((status = 200, body = TrustedIssuer)))]
pub async fn add(server: Here, Json(new): Json<NewTrustedIssuer>) -> Handled {
    json(&server.verifier()?.trust().trust(&new).await?)
}

/// Trusts an issuer no longer. Earlier verdicts are not revised.
#[utoipa::path(delete, path = "/api/trust/{id}", operation_id = "verifier_distrust_issuer", tag = "verifier", params(("id" = String, Path)), responses((status = 204)))]
pub async fn remove(server: Here, Path(id): Path<String>) -> Handled {
    server.verifier()?.trust().distrust(&id).await?;
    done()
}
