//! The ledger: DIDs of anybody, and what ACA-Py asks of a ledger of Indy.

use http::StatusCode;
use selfsame_app::agent::{AuthorAgreement, GivenAcceptance};
use selfsame_crypto::encoding::base58_encode;
use selfsame_did::{Did, Document, Options, Relationship};
use selfsame_driver::Reason;
use selfsame_http::error::Problem;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::{OperationError, OperationResult, cannot, done, told};
use crate::call::{OperationCall, did_of};

/// The role that each DID has: it may publish in its own name, and in no other.
const ROLE: &str = "ENDORSER";
/// The types of the services that messages are posted to, in lower case.
const ENDPOINTS: [&str; 4] = [
    "endpoint",
    "indyagent",
    "did-communication",
    "didcommmessaging",
];

#[derive(Deserialize)]
struct NamedQuery {
    did: Option<String>,
    endpoint_type: Option<String>,
}

impl NamedQuery {
    async fn did(&self, call: &OperationCall) -> OperationResult<Did> {
        match self.did.as_deref().unwrap_or_default() {
            "" => Err(OperationError::missing("did")),
            text => named(call, text).await,
        }
    }
}

/// The DID that a text names, qualified or not.
async fn named(call: &OperationCall, text: &str) -> OperationResult<Did> {
    let qualified = call.agents().anoncreds().qualified(text).await?;
    did_of(&qualified, "did")
}

#[derive(Deserialize)]
struct NymQuery {
    did: Option<String>,
    verkey: Option<String>,
}

/// Registers a DID. A registry takes a DID from who holds its key, so the agent's own is registered already, and so may
/// be another's; none can be registered for others.
pub async fn register(call: OperationCall) -> OperationResult {
    let asked: NymQuery = call.query()?;
    let (Some(text), Some(verkey)) = (asked.did, asked.verkey) else {
        return Err(cannot(Reason::new("agent-nym-incomplete")));
    };
    let did = named(&call, &text).await?;
    let foreign = || cannot(Reason::new("agent-nym-foreign").with("did", &did));
    let resolution = call.app().resolve(&did, &Options::default()).await;
    let document = resolution.document.as_ref().ok_or_else(foreign)?;
    match keys(document).any(|key| key == verkey) {
        true => told(&json!({ "success": true })),
        false => Err(foreign()),
    }
}

/// The keys of a document, in base58.
fn keys(document: &Document) -> impl Iterator<Item = String> {
    let keys = document.keys(Relationship::Authentication);
    keys.map(|(_, key)| base58_encode(key.bytes()))
}

/// The role of a DID.
pub async fn role(call: OperationCall) -> OperationResult {
    let asked: NamedQuery = call.query()?;
    resolved(&call, &asked.did(&call).await?).await?;
    told(&json!({ "role": ROLE }))
}

/// The key of the public DID is the organisation's.
pub async fn rotate_key(call: OperationCall) -> OperationResult {
    call.app().agent_identity(call.tenant()?).await?;
    Err(cannot(Reason::new("agent-key-fixed")))
}

/// The key of a DID of anybody, in base58.
pub async fn verkey(call: OperationCall) -> OperationResult {
    let asked: NamedQuery = call.query()?;
    let document = resolved(&call, &asked.did(&call).await?).await?;
    let key = document.keys(Relationship::Authentication).next();
    let absent = || Problem::new(StatusCode::NOT_FOUND, "agent-did-without-key");
    let (_, key) = key.ok_or_else(absent)?;
    told(&json!({ "verkey": base58_encode(key.bytes()) }))
}

/// The endpoint of a DID of anybody, by the type of its service.
pub async fn endpoint(call: OperationCall) -> OperationResult {
    let asked: NamedQuery = call.query()?;
    let document = resolved(&call, &asked.did(&call).await?).await?;
    let document = serde_json::to_value(&document).unwrap_or_default();
    let wanted = asked.endpoint_type.unwrap_or_default().to_lowercase();
    let fits = |service: &&Value| {
        let kind = service["type"].as_str().unwrap_or_default().to_lowercase();
        match wanted.as_str() {
            "" | "endpoint" => ENDPOINTS.contains(&kind.as_str()),
            wanted => kind == wanted,
        }
    };
    let mut services = document["service"].as_array().into_iter().flatten();
    let endpoint = services
        .find(fits)
        .map(|service| &service["serviceEndpoint"]);
    told(&json!({ "endpoint": endpoint }))
}

async fn resolved(call: &OperationCall, did: &Did) -> OperationResult<Document> {
    let resolution = call.app().resolve(did, &Options::default()).await;
    let unresolved = || Problem::new(StatusCode::NOT_FOUND, "agent-did-unresolved");
    Ok(resolution.document.clone().ok_or_else(unresolved)?)
}

/// The agreement of the network's authors, and what the agent has accepted.
pub async fn agreement(call: OperationCall) -> OperationResult {
    let agreement = call.app().author_agreement(call.tenant()?).await?;
    let accepted = agreement.as_ref().and_then(|one| one.accepted.as_ref());
    told(&json!({ "result": {
        "aml_record": agreement.as_ref().map(ways_to_accept),
        "taa_record": agreement.as_ref().map(agreement_record),
        "taa_required": agreement.is_some(),
        "taa_accepted": accepted.map(|one| json!({ "mechanism": one.mechanism, "time": one.day.0 })),
    }}))
}

/// The mechanisms, as Indy's ledgers list them.
fn ways_to_accept(agreement: &AuthorAgreement) -> Value {
    let ways = agreement.mechanisms.iter();
    let ways: Map<String, Value> = ways.map(|way| (way.clone(), json!(""))).collect();
    json!({ "version": agreement.version, "aml": ways, "amlContext": "" })
}

/// The agreement. The registry has the digest of its text, and not the text.
fn agreement_record(agreement: &AuthorAgreement) -> Value {
    json!({ "version": agreement.version, "digest": agreement.digest, "text": "" })
}

#[derive(Deserialize)]
struct AcceptedTerms {
    version: String,
    #[serde(default)]
    text: String,
    mechanism: String,
}

/// Accepts the agreement in force.
pub async fn accept_agreement(call: OperationCall) -> OperationResult {
    let asked: AcceptedTerms = call.body()?;
    let given = GivenAcceptance {
        version: &asked.version,
        text: &asked.text,
        mechanism: &asked.mechanism,
    };
    call.app().accept_agreement(call.tenant()?, &given).await?;
    done()
}
