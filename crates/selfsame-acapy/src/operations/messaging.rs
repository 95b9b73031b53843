//! Messages that need no record: trust pings and texts.

use serde::Deserialize;
use serde_json::json;

use super::connection::ready;
use crate::answer::{OperationResult, done, told};
use crate::call::OperationCall;

#[derive(Deserialize)]
struct PingBody {
    #[serde(default)]
    comment: Option<String>,
}

/// Sends a trust ping.
pub async fn ping(call: OperationCall) -> OperationResult {
    let body: PingBody = call.body()?;
    let id = call.at("conn_id")?;
    ready(&call, id).await?;
    let thread = call.agents().ping(call.tenant()?, id, body.comment).await?;
    told(&json!({ "thread_id": thread }))
}

#[derive(Deserialize)]
struct TextBody {
    #[serde(default)]
    content: String,
}

/// Sends a text.
pub async fn send(call: OperationCall) -> OperationResult {
    let body: TextBody = call.body()?;
    let id = call.at("conn_id")?;
    ready(&call, id).await?;
    call.agents()
        .send_text(call.tenant()?, id, body.content)
        .await?;
    done()
}
