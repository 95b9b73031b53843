//! `/api/audit`: the audit trail of an organisation.

use axum::extract::State;
use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;
use selfsame_audit::{AuditEntry, AuditFilter, ChainAnchor};
use selfsame_driver::paging::{Listing, Paging, part};
use serde::Deserialize;
use utoipa::IntoParams;

use super::json;
use crate::error::Handled;
use crate::extract::{Query, Working};
use crate::server::Server;

/// Anchors that are listed.
const ANCHORS_MAX: usize = 1_000;
/// The media type of an export.
pub const NDJSON: &str = "application/x-ndjson";

/// Where an export goes on.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportFrom {
    /// The number of the last link of the part before; 0 by default.
    #[serde(default)]
    after: u64,
}

/// The acts of operators and API keys, newest first. A search may return fewer than `limit`, with a `next` to go on.
#[utoipa::path(get, path = "/api/audit", operation_id = "audit_list", tag = "audit", params(AuditFilter), responses((status = 200, body = Listing<AuditEntry>)))]
pub async fn list(
    State(server): State<Server>,
    work: Working,
    Query(filter): Query<AuditFilter>,
) -> Handled {
    let trail = server.app().trail();
    json(&trail.list(&work.organisation, &filter).await?)
}

/// A part of the trail as lines of JSON: links, the entries of each, and at the end the head of the chain. A part
/// without a head goes on after its last link.
#[utoipa::path(get, path = "/api/audit/export", operation_id = "audit_export", tag = "audit", params(ExportFrom), responses((status = 200, content_type = "application/x-ndjson", body = String)))]
pub async fn export(
    State(server): State<Server>,
    work: Working,
    Query(from): Query<ExportFrom>,
) -> Handled {
    let trail = server.app().trail();
    trail.chain_all().await?;
    let part = trail.export(&work.organisation, from.after).await?;
    Ok(([(CONTENT_TYPE, NDJSON)], part.text()).into_response())
}

/// The heads of the chain that were anchored in the registry, newest first. The trail must contain each of them.
#[utoipa::path(get, path = "/api/audit/anchors", operation_id = "audit_anchors", tag = "audit", params(super::Page), responses((status = 200, body = Listing<ChainAnchor>)))]
pub async fn anchors(
    State(server): State<Server>,
    work: Working,
    Query(paging): Query<Paging>,
) -> Handled {
    let trail = server.app().trail();
    let items = trail
        .anchors(work.organisation.as_str(), ANCHORS_MAX)
        .await?;
    json(&part(items, &paging, |one| one.head.hash.to_string())?)
}
