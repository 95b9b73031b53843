//! Requests and offers that an agent refuses.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::Agent;

/// Where a verifier asks for a presentation.
pub const REQUESTS: &str = "/present-proof-2.0/send-request";

/// The agent refuses this call with this status.
pub async fn is_refused(agent: &Agent, path: &str, body: &Value, status: StatusCode) {
    let refused = agent.send(Method::POST, path, &body.to_string()).await;
    assert_eq!(refused.status, status, "{path} {body}: {}", refused.body);
}

/// A verifier asks for nothing by these definitions of DIF Presentation Exchange.
pub async fn none_is_asked(verifier: &Agent, connection: &str, definitions: [Value; 2]) {
    for definition in definitions {
        let body = json!({
            "connection_id": connection,
            "presentation_request": {"dif": {"presentation_definition": definition}},
        });
        is_refused(verifier, REQUESTS, &body, StatusCode::BAD_REQUEST).await;
    }
}
