//! JSON documents, by the members that tell them apart.

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value};

use crate::{MAX_BYTES, NotShown, ShownFile, did_document, invitation, offer, request, text};

/// What a JSON object is.
pub fn explain(text: &str, now: UnixTime) -> Result<ShownFile, NotShown> {
    let limits = Limits {
        max_bytes: MAX_BYTES,
        ..Limits::default()
    };
    let members: Map<String, Value> =
        json::parse_as(text.as_bytes(), &limits).map_err(|error| NotShown::Malformed {
            title: "a JSON object",
            reason: error.to_string(),
        })?;
    let has = |name: &str| members.contains_key(name);
    let is_did = members
        .get("id")
        .and_then(Value::as_str)
        .is_some_and(|id| id.starts_with("did:"));
    if has("proof")
        && let Some(shown) = text::held(text, now)
    {
        return Ok(shown);
    }
    if has("grants") || (has("credential_issuer") && has("credential_configuration_ids")) {
        return Ok(offer::of_json(text, Value::Object(members)));
    }
    if has("@type") || (has("type") && has("services")) {
        return Ok(invitation::explain(text));
    }
    if has("didDocument") {
        let document = members.get("didDocument").cloned().unwrap_or_default();
        return Ok(did_document::explain(document));
    }
    if is_did {
        return Ok(did_document::explain(Value::Object(members)));
    }
    if has("response_type") || has("dcql_query") {
        return Ok(request::of_parameters(Value::Object(members), Vec::new()));
    }
    Err(NotShown::Unknown)
}
