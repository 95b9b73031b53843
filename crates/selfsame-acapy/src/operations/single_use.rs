//! Credentials that can be used once: using them up, and letting others do so. These operations are this agent's own;
//! ACA-Py has none like them.

use selfsame_anoncreds_wallet::single_use::{HandleAct, NewDelegate};
use selfsame_did::Did;
use serde::Deserialize;
use serde_json::json;

use crate::answer::{OperationError, OperationResult, told};
use crate::call::OperationCall;

/// How long a delegation lasts if the caller does not say, and at most, in days.
const DAYS: [u64; 2] = [90, 3_650];
/// The seconds of a day.
const DAY: u64 = 86_400;

/// What happens to the credential.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HandleAction {
    /// It is used up.
    #[default]
    Consume,
    /// It is revoked.
    Revoke,
}

impl HandleAction {
    fn act(self) -> HandleAct {
        match self {
            Self::Consume => HandleAct::UseUp,
            Self::Revoke => HandleAct::Revoke,
        }
    }
}

#[derive(Deserialize)]
struct UseBody {
    #[serde(default)]
    action: HandleAction,
}

/// Uses up the credential whose handle was shown, or revokes it.
pub async fn use_up(call: OperationCall) -> OperationResult {
    let body: UseBody = call.body()?;
    let author = call.app().agent_author(call.tenant()?).await?;
    let id = call.at("pres_ex_id")?;
    let proving = call.agents().proving();
    let used = proving.use_up(&author, id, body.action.act()).await?;
    told(&json!({ "pres_ex_id": id, "seq_no": used.seq_no, "at": used.at.rfc3339() }))
}

#[derive(Deserialize)]
struct DelegationBody {
    did: String,
    cred_def_id: String,
    #[serde(default)]
    action: HandleAction,
    days: Option<u64>,
}

/// Lets another DID use up or revoke credentials of a definition of this agent.
pub async fn delegate(call: OperationCall) -> OperationResult {
    let body: DelegationBody = call.body()?;
    let [usual, most] = DAYS;
    let days = body.days.unwrap_or(usual);
    if days == 0 || days > most {
        return Err(OperationError::field("days", "Must be from 1 to 3650."));
    }
    let malformed = |_| OperationError::field("did", "Not a DID.");
    let did = Did::parse(&body.did).map_err(malformed)?;
    let anoncreds = call.agents().anoncreds();
    let until = anoncreds.shared().clock.now().plus(days * DAY);
    let new = NewDelegate {
        did: &did,
        cred_def_id: &body.cred_def_id,
        act: body.action.act(),
        until,
    };
    let author = call.app().agent_author(call.tenant()?).await?;
    let receipt = anoncreds.delegate_use(&author, &new).await?;
    told(&json!({ "seq_no": receipt.seq_no, "until": until.rfc3339() }))
}
