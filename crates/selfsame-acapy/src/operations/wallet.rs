//! The DIDs of the agent: its public one, and keys of its own that it made for controllers.

use selfsame_agent::LocalDid;
use selfsame_core::identity::Identity;
use selfsame_crypto::encoding::base58_encode;
use selfsame_driver::Reason;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationError, OperationResult, cannot, told};
use crate::call::{OperationCall, did_of};

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
struct PublicQuery {
    did: Option<String>,
}

/// The DID that invitations name as the public one. What the agent publishes is always signed by its organisation's.
pub async fn set_public(call: OperationCall) -> OperationResult {
    let asked: PublicQuery = call.query()?;
    let tenant = call.tenant()?;
    let identity = call.app().agent_identity(tenant).await?;
    let own = identity.did().to_string();
    let wanted = asked.did.ok_or_else(|| OperationError::missing("did"))?;
    if wanted == own || own.ends_with(&format!(":{wanted}")) {
        return told(&json!({ "result": public_did(&identity) }));
    }
    let wanted = did_of(&wanted, "did")?;
    let adopted = call.agents().set_public_did(tenant, &wanted).await?;
    told(&json!({ "result": {
        "did": adopted.did,
        "verkey": adopted.key.to_base58(),
        "posture": "public",
        "key_type": "ed25519",
        "method": adopted.did.method(),
    }}))
}
