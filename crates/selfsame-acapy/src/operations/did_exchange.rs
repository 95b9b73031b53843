//! DID exchange (RFC 0023).

use selfsame_agent::ConnectionView;
use selfsame_agent::connect::{DidRequestWish, OwnDid, OwnSide};
use selfsame_driver::Reason;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::out_of_band::made_kind;
use crate::answer::{OperationError, OperationResult, cannot, told};
use crate::call::{Flag, OperationCall, did_of};

/// The names of the versions of the protocol.
const FIRST: &str = "didexchange/1.0";
const LATEST: &str = "didexchange/1.1";

/// How a caller wants this side of a connection.
#[derive(Deserialize)]
struct SideQuery {
    my_label: Option<String>,
    my_endpoint: Option<String>,
    use_did: Option<String>,
    use_did_method: Option<String>,
    use_public_did: Option<Flag>,
}

impl SideQuery {
    fn side(self) -> OperationResult<OwnSide> {
        let public = Flag::is_set(self.use_public_did, false);
        let did = match (public, &self.use_did, &self.use_did_method) {
            (true, None, None) => OwnDid::Public,
            (false, None, Some(method)) => made_kind(method)?,
            (false, None, None) => OwnDid::default(),
            (false, Some(_), None) => return Err(cannot(Reason::new("agent-did-in-use"))),
            _ => return Err(cannot(Reason::new("agent-invitation-dids"))),
        };
        let endpoint = self.my_endpoint.as_deref().map(Url::parse).transpose();
        let wrong = |_| OperationError::field("my_endpoint", "Not a valid URL.");
        Ok(OwnSide {
            label: self.my_label,
            endpoint: endpoint.map_err(wrong)?,
            did,
        })
    }
}

#[derive(Deserialize)]
struct DidRequestQuery {
    their_public_did: Option<String>,
    alias: Option<String>,
    protocol: Option<String>,
}

/// Asks the subject of a public DID for a connection.
pub async fn create_request(call: OperationCall) -> OperationResult {
    let (asked, side): (DidRequestQuery, SideQuery) = (call.query()?, call.query()?);
    let missing = || OperationError::missing("their_public_did");
    let theirs = asked.their_public_did.filter(|did| !did.is_empty());
    let wish = DidRequestWish {
        their_did: did_of(&theirs.ok_or_else(missing)?, "their_public_did")?,
        alias: asked.alias,
        side: side.side()?,
        minor_version: match asked.protocol.as_deref() {
            Some(FIRST) => 0,
            None | Some(LATEST) => 1,
            Some(_) => {
                return Err(OperationError::field(
                    "protocol",
                    "Must be one of: didexchange/1.0, didexchange/1.1.",
                ));
            }
        },
    };
    let (agents, tenant) = (call.agents(), call.tenant()?);
    let made = agents.request_connection(tenant, wish).await?;
    told(&requested(&made))
}

/// The connection, with what its request says: ACA-Py documents the one and answers with the other.
fn requested(made: &ConnectionView) -> Value {
    let mut answer = serde_json::to_value(made).unwrap_or_default();
    answer["@id"] = json!(made.request_id);
    answer["did"] = json!(made.my_did);
    answer["~thread"] = json!({ "thid": made.request_id, "pthid": made.invitation_msg_id });
    answer
}

/// Takes a request that the caller brings.
pub async fn receive_request(call: OperationCall) -> OperationResult {
    let request: Map<String, Value> = call.body()?;
    let (agents, tenant) = (call.agents(), call.tenant()?);
    told(&agents.receive_connection_request(tenant, request).await?)
}

/// Goes on with a connection: with the request as the invited side, with the response as the inviting one.
pub async fn accept(call: OperationCall) -> OperationResult {
    let side: SideQuery = call.query()?;
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    told(
        &agents
            .accept_connection_as(tenant, id, side.side()?)
            .await?,
    )
}

#[derive(Deserialize)]
struct RejectBody {
    reason: Option<String>,
}

/// Refuses a connection.
pub async fn reject(call: OperationCall) -> OperationResult {
    let body: RejectBody = call.body()?;
    let (agents, tenant, id) = (call.agents(), call.tenant()?, call.at("conn_id")?);
    told(&agents.reject_connection(tenant, id, body.reason).await?)
}
