//! DID rotate (RFC 0794).

use serde::Deserialize;

use crate::answer::{OperationResult, told};
use crate::call::{OperationCall, did_of};

#[derive(Deserialize)]
struct RotateBody {
    to_did: String,
}

/// Changes this agent's DID in a connection. Answers with the message to the peer.
pub async fn rotate(call: OperationCall) -> OperationResult {
    let body: RotateBody = call.body()?;
    let to = did_of(&body.to_did, "to_did")?;
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    told(&agents.rotate_did(tenant, id, Some(to)).await?)
}

/// Ends a connection. Answers with the message to the peer.
pub async fn hang_up(call: OperationCall) -> OperationResult {
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    told(&agents.hang_up(tenant, id).await?)
}
