//! Endorsement: transactions of authors who may not write to the registry alone.

use selfsame_anoncreds_wallet::endorse::{Endorser, RequestedPublication};
use selfsame_core::dids::Author;
use selfsame_endorsement::protocol::TransactionJob;
use selfsame_endorsement::{Endorsements, EndorserInfo};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationError, OperationResult, told};
use crate::call::{Flag, OperationCall};

/// Whether something is published through an endorser, and on which connection it is reached.
#[derive(Deserialize)]
pub struct EndorserQuery {
    conn_id: Option<String>,
    create_transaction_for_endorser: Option<Flag>,
}

impl EndorserQuery {
    /// The endorser of what this author publishes; `None` if it publishes alone.
    pub async fn endorser(
        self,
        call: &OperationCall,
        author: &Author,
    ) -> OperationResult<Option<Endorser>> {
        let endorsements = endorsements(call);
        let asked = Flag::is_set(self.create_transaction_for_endorser, false);
        if !asked && !endorsements.is_author(&author.tenant) {
            return Ok(None);
        }
        let connection = self.conn_id.as_deref();
        Ok(Some(endorsements.endorser(author, connection).await?))
    }
}

/// The members of `options` that say the same, in the words of AnonCreds.
#[derive(Default, Deserialize)]
pub struct EndorserOptions {
    endorser_connection_id: Option<String>,
    #[serde(default)]
    create_transaction_for_endorser: bool,
}

impl EndorserOptions {
    /// The endorser of what this author publishes; `None` if it publishes alone.
    pub async fn endorser(
        self,
        call: &OperationCall,
        author: &Author,
    ) -> OperationResult<Option<Endorser>> {
        let asked = EndorserQuery {
            conn_id: self.endorser_connection_id,
            create_transaction_for_endorser: Some(Flag(self.create_transaction_for_endorser)),
        };
        asked.endorser(call, author).await
    }
}

/// An object that an author publishes through an endorser, in the words of AnonCreds.
pub struct AnonCredsObject {
    /// What it is, such as `schema`.
    pub kind: &'static str,
    /// Its identifier and its value, by the names that they have in its state.
    pub members: Value,
}

/// What is told of such an object: that the registry has it, or that its transaction waits.
pub async fn requested_anoncreds(
    call: &OperationCall,
    mut object: AnonCredsObject,
    requested: RequestedPublication,
) -> OperationResult {
    let (job, state, registration) = match requested.waiting {
        None => (None, "finished", json!({})),
        Some(transaction) => {
            let begun = endorsements(call)
                .begun(call.tenant()?, &transaction)
                .await?;
            let job = begun.id().to_owned();
            (Some(job), "wait", json!({ "txn": begun }))
        }
    };
    object.members["state"] = json!(state);
    let kind = object.kind;
    told(&json!({
        "job_id": job,
        (format!("{kind}_state")): object.members,
        (format!("{kind}_metadata")): {},
        "registration_metadata": registration,
    }))
}

fn endorsements(call: &OperationCall) -> &Endorsements {
    call.app().endorsements()
}

/// What is told of something that is published through an endorser: its transaction, unless the registry has it.
pub async fn requested(
    call: &OperationCall,
    sent: Value,
    requested: RequestedPublication,
) -> OperationResult {
    let tenant = call.tenant()?;
    match requested.waiting {
        None => told(&json!({ "sent": sent })),
        Some(transaction) => {
            let begun = endorsements(call).begun(tenant, &transaction).await?;
            told(&json!({ "sent": sent, "txn": begun }))
        }
    }
}

/// The transactions of the agent.
pub async fn list(call: OperationCall) -> OperationResult {
    let found = endorsements(&call).list(call.tenant()?).await?;
    told(&json!({ "results": found }))
}

/// A transaction.
pub async fn show(call: OperationCall) -> OperationResult {
    let (tenant, id) = (call.tenant()?, call.at("tran_id")?);
    told(&endorsements(&call).show(tenant, id).await?)
}

#[derive(Deserialize)]
struct RequestQuery {
    tran_id: Option<String>,
}

#[derive(Deserialize)]
struct RequestBody {
    expires_time: Option<String>,
}

/// Asks the endorser.
pub async fn request(call: OperationCall) -> OperationResult {
    let (asked, body): (RequestQuery, RequestBody) = (call.query()?, call.body()?);
    let id = asked
        .tran_id
        .ok_or_else(|| OperationError::missing("tran_id"))?;
    let (tenant, until) = (call.tenant()?, body.expires_time);
    told(&endorsements(&call).request(tenant, &id, until).await?)
}

#[derive(Deserialize)]
struct EndorseQuery {
    endorser_did: Option<String>,
}

/// Endorses a transaction.
pub async fn endorse(call: OperationCall) -> OperationResult {
    let asked: EndorseQuery = call.query()?;
    let (tenant, id, did) = (call.tenant()?, call.at("tran_id")?, asked.endorser_did);
    let endorsed = endorsements(&call).endorse(tenant, id, did.as_deref());
    told(&endorsed.await?)
}

/// Refuses to endorse a transaction.
pub async fn refuse(call: OperationCall) -> OperationResult {
    let (tenant, id) = (call.tenant()?, call.at("tran_id")?);
    told(&endorsements(&call).refuse(tenant, id).await?)
}

/// Takes a request back.
pub async fn cancel(call: OperationCall) -> OperationResult {
    let (tenant, id) = (call.tenant()?, call.at("tran_id")?);
    told(&endorsements(&call).cancel(tenant, id).await?)
}

/// Asks again.
pub async fn resend(call: OperationCall) -> OperationResult {
    let (tenant, id) = (call.tenant()?, call.at("tran_id")?);
    told(&endorsements(&call).resend(tenant, id).await?)
}

/// Writes an endorsed transaction.
pub async fn write(call: OperationCall) -> OperationResult {
    let (tenant, id) = (call.tenant()?, call.at("tran_id")?);
    told(&endorsements(&call).write(tenant, id).await?)
}

#[derive(Deserialize)]
struct RoleQuery {
    transaction_my_job: Option<TransactionJob>,
}

/// Sets what the agent does on a connection.
pub async fn set_role(call: OperationCall) -> OperationResult {
    let asked: RoleQuery = call.query()?;
    let job = asked.transaction_my_job;
    let job = job.ok_or_else(|| OperationError::missing("transaction_my_job"))?;
    let (tenant, id) = (call.tenant()?, call.at("conn_id")?);
    told(&endorsements(&call).set_role(tenant, id, job).await?)
}

#[derive(Deserialize)]
struct InfoQuery {
    endorser_did: Option<String>,
    endorser_name: Option<String>,
}

/// Says who the endorser at the other end of a connection is.
pub async fn set_info(call: OperationCall) -> OperationResult {
    let asked: InfoQuery = call.query()?;
    let missing = || OperationError::missing("endorser_did");
    let info = EndorserInfo {
        endorser_did: asked.endorser_did.ok_or_else(missing)?,
        endorser_name: asked.endorser_name,
    };
    let (tenant, id) = (call.tenant()?, call.at("conn_id")?);
    told(&endorsements(&call).set_endorser(tenant, id, info).await?)
}
