//! The DIDs of the agent: its public one, and keys of its own that it made for controllers.

use http::StatusCode;
use selfsame_agent::LocalDid;
use selfsame_core::identity::Identity;
use selfsame_crypto::encoding::base58_encode;
use selfsame_did::{Did, Document, Options, Relationship};
use selfsame_driver::Reason;
use selfsame_http::error::Problem;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationError, OperationResult, cannot, done, told};
use crate::call::OperationCall;

/// The types of the services that messages are posted to, in lower case.
const ENDPOINTS: [&str; 4] = [
    "endpoint",
    "indyagent",
    "did-communication",
    "didcommmessaging",
];

#[derive(Deserialize)]
struct DidQuery {
    did: Option<String>,
    verkey: Option<String>,
    posture: Option<String>,
    method: Option<String>,
    key_type: Option<String>,
}

/// The DIDs that fit the query.
pub async fn list(call: OperationCall) -> OperationResult {
    let asked: DidQuery = call.query()?;
    let identity = call.app().agent_identity(call.tenant()?).await?;
    let mut all = vec![public_did(&identity)];
    let local = call.agents().local_dids(call.tenant()?).await?;
    all.extend(local.iter().map(local_did));
    let fits = |one: &Value| {
        let same = |asked: &Option<String>, member: &str| {
            asked.as_deref().is_none_or(|asked| one[member] == asked)
        };
        same(&asked.did, "did")
            && same(&asked.verkey, "verkey")
            && same(&asked.method, "method")
            && same(&asked.key_type, "key_type")
            && same(&asked.posture, "posture")
    };
    all.retain(fits);
    told(&json!({ "results": all }))
}

fn public_did(identity: &Identity) -> Value {
    let public = identity.public();
    json!({
        "did": identity.did().to_string(),
        "verkey": base58_encode(public.bytes()),
        "posture": "public",
        "key_type": key_type(public),
        "method": identity.did().method(),
    })
}

fn key_type(public: &selfsame_crypto::PublicKey) -> String {
    format!("{:?}", public.key_type()).to_lowercase()
}

fn local_did(one: &LocalDid) -> Value {
    json!({
        "did": one.did,
        "verkey": one.verkey,
        "posture": "wallet_only",
        "key_type": "ed25519",
        "method": one.method,
        "metadata": {},
    })
}

#[derive(Deserialize)]
struct CreateBody {
    method: Option<String>,
    #[serde(default)]
    options: CreateOptions,
    seed: Option<String>,
}

#[derive(Default, Deserialize)]
struct CreateOptions {
    key_type: Option<String>,
    did: Option<String>,
}

/// Makes a key and its DID.
pub async fn create(call: OperationCall) -> OperationResult {
    let body: CreateBody = call.body()?;
    let key_type = body.options.key_type.as_deref().unwrap_or("ed25519");
    if key_type != "ed25519" || body.seed.is_some() || body.options.did.is_some() {
        return Err(cannot(Reason::new("agent-did-options")));
    }
    let method = body.method.as_deref().unwrap_or("sov");
    let made = call.agents().create_did(call.tenant()?, method).await?;
    told(&json!({ "result": local_did(&made) }))
}

/// The public DID.
pub async fn public(call: OperationCall) -> OperationResult {
    let identity = call.app().agent_identity(call.tenant()?).await?;
    told(&json!({ "result": public_did(&identity) }))
}

#[derive(Deserialize)]
struct NamedQuery {
    did: Option<String>,
    endpoint_type: Option<String>,
}

impl NamedQuery {
    fn did(&self) -> OperationResult<Did> {
        let text = self.did.as_deref().unwrap_or_default();
        if text.is_empty() {
            return Err(OperationError::field(
                "did",
                "Missing data for required field.",
            ));
        }
        Did::parse(text).map_err(|_| OperationError::field("did", "Value is not a DID"))
    }
}

/// The public DID is that of the organisation, and no other can be.
pub async fn set_public(call: OperationCall) -> OperationResult {
    let asked: NamedQuery = call.query()?;
    let identity = call.app().agent_identity(call.tenant()?).await?;
    let own = identity.did().to_string();
    match asked.did.as_deref() {
        Some(did) if did == own || own.ends_with(&format!(":{did}")) => {
            told(&json!({ "result": public_did(&identity) }))
        }
        _ => Err(cannot(
            Reason::new("agent-public-did-fixed").with("did", &own),
        )),
    }
}

/// The key of a DID of anybody, in base58.
pub async fn verkey(call: OperationCall) -> OperationResult {
    let asked: NamedQuery = call.query()?;
    let document = resolved(&call, &asked.did()?).await?;
    let key = document.keys(Relationship::Authentication).next();
    let absent = || Problem::new(StatusCode::NOT_FOUND, "agent-did-without-key");
    let (_, key) = key.ok_or_else(absent)?;
    told(&json!({ "verkey": base58_encode(key.bytes()) }))
}

/// The endpoint of a DID of anybody, by the type of its service.
pub async fn endpoint(call: OperationCall) -> OperationResult {
    let asked: NamedQuery = call.query()?;
    let document = resolved(&call, &asked.did()?).await?;
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

/// The agreement of the network's authors: there is none that this API accepts.
pub async fn agreement(call: OperationCall) -> OperationResult {
    let in_force = call.app().agreement_in_force().ok().flatten();
    let record =
        in_force.map(|one| json!({ "version": one.version, "digest": one.digest, "text": "" }));
    told(&json!({ "result": {
        "aml_record": null,
        "taa_record": record,
        "taa_required": record.is_some(),
        "taa_accepted": null,
    }}))
}

/// Nothing is to be accepted where no agreement is in force.
pub async fn accept_agreement(call: OperationCall) -> OperationResult {
    match call.app().agreement_in_force().ok().flatten() {
        None => done(),
        Some(_) => Err(cannot(Reason::new("agent-agreement-operator"))),
    }
}
