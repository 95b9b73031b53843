//! The process: its status, its settings, its description.

use axum::response::IntoResponse as _;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use selfsame_http::error::Problem;
use serde_json::json;

use crate::answer::{OperationResult, told};
use crate::call::OperationCall;
use crate::description;
use crate::operations::all;

/// ACA-Py's name for a wallet whose schemas are published by /schemas.
const WALLET_TYPE: &str = "askar";

/// The agent's status.
pub async fn status(call: OperationCall) -> OperationResult {
    let settings = call.admin.settings();
    let (commits, _) = call.app().commits();
    let outbox = call.app().outbox().await?;
    told(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "label": settings.terms.label,
        "conductor": { "commits": commits, "outbound_waiting": outbox.pending, "outbound_given_up": outbox.dead },
    }))
}

/// Whether the process is alive.
pub async fn live(_call: OperationCall) -> OperationResult {
    told(&json!({ "alive": true }))
}

/// Whether requests are served.
pub async fn ready(call: OperationCall) -> OperationResult {
    match call.app().is_ready() {
        true => told(&json!({ "ready": true })),
        false => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "agent-starting").into()),
    }
}

/// The agent's settings, without secrets.
pub async fn config(call: OperationCall) -> OperationResult {
    let settings = call.admin.settings();
    let mut config = serde_json::to_value(settings.terms.settings).unwrap_or_default();
    config["default_label"] = settings.terms.label.as_str().into();
    config["default_endpoint"] = settings.terms.endpoint.as_str().into();
    config["admin.admin_insecure_mode"] = settings.api_key.is_none().into();
    config["admin.admin_client_max_request_size"] = settings.body_max.into();
    config["multitenant.enabled"] = settings.multitenant.into();
    // Controllers ask for it to know whether to publish by /schemas or by /anoncreds/schema. Both are served.
    config["wallet.type"] = WALLET_TYPE.into();
    config["organisation"] = settings.organisation.as_str().into();
    told(&json!({ "config": config }))
}

/// An agent stops with its instance.
pub async fn shutdown(_call: OperationCall) -> OperationResult {
    Err(Problem::new(StatusCode::FORBIDDEN, "agent-shutdown-refused").into())
}

/// The protocols' modules. Selfsame loads no modules.
pub async fn plugins(_call: OperationCall) -> OperationResult {
    told(&json!({ "result": [] }))
}

/// The description of the API for programs.
pub async fn swagger(call: OperationCall) -> OperationResult {
    let settings = call.admin.settings();
    told(&description::swagger(&all(settings), &settings.terms.label))
}

/// The operations as a list for people.
pub async fn listed(call: OperationCall) -> OperationResult {
    let settings = call.admin.settings();
    let text = description::listed(&all(settings), &settings.terms.label);
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
