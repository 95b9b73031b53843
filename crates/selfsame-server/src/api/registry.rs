//! `/api/registry`: the registry's status, its transactions, and writing to it.

use axum::extract::State;
use http::{HeaderMap, StatusCode};
use selfsame_did::Did;
use selfsame_driver::Error;
use selfsame_ledger::parse_transaction;
use selfsame_ledger::view::{NodeHealth, RegistryClock, RegistryEntry, RegistryStatus};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Items, json, told};
use crate::error::{Handled, Problem};
use crate::extract::{Query, Raw, is_kind};
use crate::server::Server;

/// A range of transactions.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Span {
    /// The number of the first transaction; the oldest is 1.
    first: u64,
    /// Maximum number of transactions; 200 at most.
    count: usize,
}

/// The DID to look up.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhichDid {
    /// The DID.
    did: String,
}

/// The status of the registry.
#[utoipa::path(get, path = "/api/registry/status", operation_id = "registry_get_status", tag = "registry", responses((status = 200, body = RegistryStatus)))]
pub async fn status(State(server): State<Server>) -> Handled {
    json(&server.registry()?.status().await?)
}

/// The health of this node of a network.
#[utoipa::path(get, path = "/api/registry/node", operation_id = "registry_get_node", tag = "registry", responses((status = 200, body = NodeHealth)))]
pub async fn node(State(server): State<Server>) -> Handled {
    let health = server.registry()?.health()?;
    let alone = || Error::not_found("network-node-needed");
    json(&health.ok_or_else(alone)?)
}

/// The current time as the registry of this process sees it.
#[utoipa::path(get, path = "/api/registry/clock", operation_id = "registry_get_clock", tag = "registry", responses((status = 200, body = RegistryClock)))]
pub async fn clock(State(server): State<Server>) -> Handled {
    let alone = || Error::not_found("clock-not-of-registry");
    told(server.app().times().ok_or_else(alone)?.view())
}

/// The operator confirms that this machine's clock is correct now.
#[utoipa::path(post, path = "/api/registry/clock", operation_id = "registry_confirm_clock", tag = "registry", responses((status = 200, body = RegistryClock)))]
pub async fn confirm_clock(State(server): State<Server>) -> Handled {
    told(server.app().vouch_for_clock().await?)
}

/// Transactions in their order.
#[utoipa::path(get, path = "/api/registry/entries", operation_id = "registry_list_entries", tag = "registry", params(Span), responses((status = 200, body = Items<RegistryEntry>)))]
pub async fn entries(State(server): State<Server>, Query(span): Query<Span>) -> Handled {
    let items = server
        .registry()?
        .entries(span.first, span.count.min(200))
        .await?;
    json(&Items { items })
}

/// The transactions that changed a DID, oldest first.
#[utoipa::path(get, path = "/api/registry/history", operation_id = "registry_list_history", tag = "registry", params(WhichDid), responses((status = 200, body = Items<RegistryEntry>)))]
pub async fn history(State(server): State<Server>, Query(which): Query<WhichDid>) -> Handled {
    let did = which.did.parse::<Did>();
    let did = did.map_err(|_| Error::bad_request("did-malformed"))?;
    let items = server.registry()?.history(&did).await?;
    json(&Items { items })
}

/// Submits a signed transaction in the registry's own format, deterministic CBOR. A transaction that was submitted
/// before gets its first receipt.
pub async fn submit(State(server): State<Server>, headers: HeaderMap, Raw(body): Raw) -> Handled {
    if !is_kind(&headers, "application/cbor") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, "body-not-cbor"));
    }
    json(
        &server
            .registry()?
            .submit(&parse_transaction(&body)?)
            .await?,
    )
}
