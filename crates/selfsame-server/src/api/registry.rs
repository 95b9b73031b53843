//! `/api/registry`: the registry's status, its transactions, and writing to it.

use axum::extract::State;
use http::{HeaderMap, StatusCode};
use selfsame_did::Did;
use selfsame_driver::Error;
use selfsame_driver::paging::{Listing, Paging, after_number, at_least_one, numbered, part};
use selfsame_ledger::parse_transaction;
use selfsame_ledger::view::{NodeHealth, RegistryClock, RegistryEntry, RegistryStatus};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{json, told};
use crate::error::{Handled, Problem};
use crate::extract::{Query, Raw, is_kind};
use crate::server::Server;

/// A range of transactions.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Span {
    /// The number of the first transaction; the oldest is 1, and the default.
    first: Option<u64>,
    /// The same as `limit`.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    count: Option<usize>,
    /// The `next` of the previous page, in place of `first`.
    after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// The DID to look up.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhichDid {
    /// The DID.
    did: String,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    #[param(minimum = 1)]
    limit: Option<usize>,
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
#[utoipa::path(get, path = "/api/registry/entries", operation_id = "registry_list_entries", tag = "registry", params(Span), responses((status = 200, body = Listing<RegistryEntry>)))]
pub async fn entries(State(server): State<Server>, Query(span): Query<Span>) -> Handled {
    let Span { first, after, .. } = span;
    let limit = span.limit.or(span.count);
    let paging = Paging { after, limit };
    let first = match paging.cursor() {
        Some(_) => after_number(&paging)?.saturating_add(1),
        None => first.unwrap_or(1),
    };
    let count = paging.limit().saturating_add(1);
    let items = server.registry()?.entries(first, count).await?;
    json(&numbered(items, &paging, |one| one.seq_no))
}

/// The transactions that changed a DID, oldest first.
#[utoipa::path(get, path = "/api/registry/history", operation_id = "registry_list_history", tag = "registry", params(WhichDid), responses((status = 200, body = Listing<RegistryEntry>)))]
pub async fn history(State(server): State<Server>, Query(which): Query<WhichDid>) -> Handled {
    let did = which.did.parse::<Did>();
    let did = did.map_err(|_| Error::bad_request("did-malformed"))?;
    let entries = server.registry()?.history(&did).await?;
    let WhichDid { after, limit, .. } = which;
    let paging = Paging { after, limit };
    json(&part(entries, &paging, |one| one.seq_no.to_string())?)
}

/// Submits a signed transaction in the registry's own format, deterministic CBOR. A transaction that was submitted
/// before gets its first receipt.
pub async fn submit(State(server): State<Server>, headers: HeaderMap, Raw(body): Raw) -> Handled {
    if !is_kind(&headers, "application/cbor") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, "body-not-cbor"));
    }
    let transaction = parse_transaction(&body)?;
    json(&server.registry()?.submit(&transaction).await?)
}
