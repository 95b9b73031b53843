//! Discover features (RFC 0031, RFC 0557): what this agent and its peers can do.

use selfsame_agent::connect::{DiscoveryView, NewDiscovery};
use selfsame_aries::discover_features::FeatureQuery;
use selfsame_driver::Error;
use selfsame_driver::paging::Paging;
use serde::Deserialize;
use serde_json::json;

use crate::answer::{OperationResult, told};
use crate::call::{ListPart, OperationCall};
use crate::listing::gathered;

/// What fits every feature.
const ANY: &str = "*";
/// The major versions of the protocol.
const FIRST: u16 = 1;
const LATEST: u16 = 2;

#[derive(Deserialize)]
struct FeaturesQuery {
    connection_id: Option<String>,
    query: Option<String>,
    query_protocol: Option<String>,
    query_goal_code: Option<String>,
}

fn asked_for(feature_type: &str, pattern: Option<String>) -> FeatureQuery {
    FeatureQuery {
        feature_type: feature_type.to_owned(),
        pattern: pattern.unwrap_or_else(|| ANY.to_owned()),
    }
}

impl FeaturesQuery {
    fn discovery(self, major: u16) -> NewDiscovery {
        let queries = match major {
            FIRST => vec![asked_for("protocol", self.query)],
            _ => vec![
                asked_for("protocol", self.query_protocol),
                asked_for("goal-code", self.query_goal_code),
            ],
        };
        NewDiscovery {
            connection_id: self.connection_id,
            major,
            queries,
        }
    }
}

/// Asks a peer, or this agent, in version 1.0.
pub async fn ask_first(call: OperationCall) -> OperationResult {
    let asked: FeaturesQuery = call.query()?;
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let found = agents.discover(tenant, asked.discovery(FIRST)).await?;
    told(&found)
}

/// Asks a peer, or this agent, in version 2.0.
pub async fn ask(call: OperationCall) -> OperationResult {
    let asked: FeaturesQuery = call.query()?;
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let found = agents.discover(tenant, asked.discovery(LATEST)).await?;
    told(&found)
}

#[derive(Deserialize)]
struct QuestionsQuery {
    connection_id: Option<String>,
}

/// The questions in version 1.0.
pub async fn list_first(call: OperationCall) -> OperationResult {
    questions(&call, FIRST).await
}

/// The questions in version 2.0.
pub async fn list(call: OperationCall) -> OperationResult {
    questions(&call, LATEST).await
}

async fn questions(call: &OperationCall, major: u16) -> OperationResult {
    let asked: QuestionsQuery = call.query()?;
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let connection = asked.connection_id.as_deref();
    let page = |paging: Paging| async move {
        let found = agents.discovery_records(tenant, connection, &paging);
        let mut listed = found.await?;
        listed
            .items
            .retain(|view: &DiscoveryView| view.major == major);
        Ok::<_, Error>(listed)
    };
    let results = gathered(ListPart::default(), page).await?;
    told(&json!({ "results": results }))
}
