//! The credentials that the agent holds.

use selfsame_crypto::json;
use selfsame_driver::paging::Paging;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationError, OperationResult, done, told};
use crate::call::OperationCall;

/// The number of credentials that a search returns if the caller does not say.
const COUNT: usize = 10;

#[derive(Deserialize)]
struct CredentialsQuery {
    wql: Option<String>,
    start: Option<usize>,
    offset: Option<usize>,
    count: Option<usize>,
    limit: Option<usize>,
}

/// The credentials that a query in WQL fits.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: CredentialsQuery = call.query()?;
    let wql = match asked.wql.as_deref().filter(|wql| !wql.is_empty()) {
        Some(wql) => json::parse(wql.as_bytes(), &json::Limits::default())
            .map_err(|error| OperationError::field("wql", &error.to_string()))?,
        None => json!({}),
    };
    let start = asked.offset.or(asked.start).unwrap_or(0);
    let count = asked.limit.or(asked.count).unwrap_or(COUNT);
    let wanted = start.saturating_add(count);
    let (mut found, mut paging) = (Vec::new(), Paging::longest());
    let anoncreds = call.agents().anoncreds();
    while found.len() < wanted {
        let listed = anoncreds.credentials(call.tenant()?, &wql, &paging).await?;
        found.extend(listed.items);
        match listed.next {
            Some(next) => paging.after = Some(next),
            None => break,
        }
    }
    let results: Vec<_> = found.into_iter().skip(start).take(count).collect();
    told(&json!({ "results": results }))
}

/// A credential.
pub async fn show(call: OperationCall) -> OperationResult {
    let id = call.at("credential_id")?;
    told(
        &call
            .agents()
            .anoncreds()
            .credential(call.tenant()?, id)
            .await?,
    )
}

/// Removes a credential.
pub async fn remove(call: OperationCall) -> OperationResult {
    let id = call.at("credential_id")?;
    let anoncreds = call.agents().anoncreds();
    anoncreds.remove_credential(call.tenant()?, id).await?;
    done()
}

/// The types of a credential's attributes. Previews have texts alone.
pub async fn mime_types(call: OperationCall) -> OperationResult {
    let id = call.at("credential_id")?;
    call.agents()
        .anoncreds()
        .credential(call.tenant()?, id)
        .await?;
    told(&json!({ "results": Value::Null }))
}

/// The agent's credentials that are JWTs, newest first.
pub async fn list_w3c(call: OperationCall) -> OperationResult {
    let (dif, paging) = (call.app().dif(), Paging::longest());
    let held = dif.held(call.tenant()?, &paging).await?;
    told(&json!({ "results": held.items }))
}
