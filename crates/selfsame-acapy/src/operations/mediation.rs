//! Mediation for other agents: who asked for it, and for which keys.

use axum::response::IntoResponse as _;
use http::StatusCode;
use selfsame_mediation::grants::{MediationDecision, MediationFilter};
use serde::Deserialize;
use serde_json::json;

use crate::answer::{OperationResult, told};
use crate::call::{ListPart, OperationCall};

/// Who this agent is in the mediations that it has.
const ROLE: &str = "server";

#[derive(Deserialize)]
struct RequestsQuery {
    conn_id: Option<String>,
    state: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

/// The mediations.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: RequestsQuery = call.query()?;
    let part = ListPart::of(asked.offset, asked.limit);
    let filter = MediationFilter {
        connection_id: asked.conn_id,
        state: asked.state,
        offset: part.offset,
        limit: part.limit(),
    };
    let found = call.agents().grants().list(call.tenant()?, &filter).await?;
    told(&json!({ "results": found }))
}

/// A mediation.
pub async fn show(call: OperationCall) -> OperationResult {
    let id = call.at("mediation_id")?;
    told(&call.agents().grants().show(call.tenant()?, id).await?)
}

/// Removes a mediation.
pub async fn remove(call: OperationCall) -> OperationResult {
    let id = call.at("mediation_id")?;
    told(&call.agents().grants().remove(call.tenant()?, id).await?)
}

/// Grants mediation.
pub async fn grant(call: OperationCall) -> OperationResult {
    decided(&call, MediationDecision::Grant).await
}

/// Denies mediation, or ends it.
pub async fn deny(call: OperationCall) -> OperationResult {
    decided(&call, MediationDecision::Deny).await
}

/// ACA-Py answers a decision with 201.
async fn decided(call: &OperationCall, decision: MediationDecision) -> OperationResult {
    let id = call.at("mediation_id")?;
    let decided = call.agents().decide_mediation(call.tenant()?, id, decision);
    let shown = told(&decided.await?)?;
    Ok((StatusCode::CREATED, shown).into_response())
}

#[derive(Deserialize)]
struct KeylistsQuery {
    conn_id: Option<String>,
    role: Option<String>,
}

/// The keys whose messages are taken.
pub async fn keylists(call: OperationCall) -> OperationResult {
    let asked: KeylistsQuery = call.query()?;
    let found = match asked.role.as_deref() {
        None | Some(ROLE) => {
            let grants = call.agents().grants();
            grants
                .keylists(call.tenant()?, asked.conn_id.as_deref())
                .await?
        }
        Some(_) => Vec::new(),
    };
    told(&json!({ "results": found }))
}
