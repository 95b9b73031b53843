//! DID rotate (RFC 0794).

use serde::Deserialize;

use crate::answer::{OperationResult, told};
use crate::call::{OperationCall, did_of};

#[derive(Deserialize)]
struct RotateBody {
    to_did: Option<String>,
}

/// Changes this agent's DID in a connection: to one whose key it holds, or to a new one. Answers with the message to the
/// peer.
pub async fn rotate(call: OperationCall) -> OperationResult {
    let body: RotateBody = call.body()?;
    let to = body.to_did.map(|to| did_of(&to, "to_did")).transpose()?;
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    told(&agents.rotate_did(tenant, id, to).await?)
}

/// Ends a connection. Answers with the message to the peer.
pub async fn hang_up(call: OperationCall) -> OperationResult {
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    told(&agents.hang_up(tenant, id).await?)
}
