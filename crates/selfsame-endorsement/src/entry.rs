//! A transaction as it is kept, and as controllers see it.

use selfsame_anoncreds_wallet::endorse::EndorsedObject;
use selfsame_core::machine::Call;
use selfsame_core::notice::Told;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_registry::transaction::AuthoredTransaction;
use selfsame_store::{NewOutbox, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::protocol::{TransactionRecord, TransactionRole};

/// The kind of the records, which is also the name of their machine.
pub const ENDORSEMENT: &str = "aries_endorsement";
/// The topic of their webhooks.
const TOPIC: &str = "endorse_transaction";
/// The types of what the protocol signs.
const REQUESTED: &str = "https://didcomm.org/sign-attachment/1.0/signature-request";
const ANSWERED: &str = "https://didcomm.org/sign-attachment/1.0/signature-response";
/// The format of the attachment.
const FORMAT: &str = "dif/endorse-transaction/request@v1.0";

/// A transaction as it is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TransactionEntry {
    /// What the protocol knows of it.
    pub record: TransactionRecord,
    /// What an author goes on with once the transaction is endorsed.
    pub publishes: Option<AwaitedObject>,
}

/// A record that goes on once its transaction is endorsed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AwaitedObject {
    /// What is published.
    pub object: EndorsedObject,
    /// The identifier of the record.
    pub record: String,
}

/// A transaction as controllers see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransactionView {
    transaction_id: String,
    #[serde(rename = "_type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    state: &'static str,
    connection_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    signature_request: Vec<Value>,
    signature_response: Vec<Value>,
    timing: Map<String, Value>,
    formats: Vec<Value>,
    messages_attach: Vec<Value>,
    endorser_write_txn: bool,
    meta_data: Value,
    created_at: String,
    updated_at: String,
}

impl TransactionEntry {
    /// What controllers are told of its state.
    pub fn told(&self, id: &str) -> Told {
        Told::new(TOPIC, &TransactionView::of(id, self))
    }

    /// Whether this side wrote the transaction.
    pub fn is_author(&self) -> bool {
        self.record.role == TransactionRole::Author
    }
}

impl TransactionView {
    pub(crate) fn of(id: &str, entry: &TransactionEntry) -> Self {
        let record = &entry.record;
        let listed = |one: Option<Value>| one.into_iter().collect::<Vec<_>>();
        let (asked, answered) = (&record.signature_request, &record.signature_response);
        let asked = asked.as_ref().map(|asked| json!(asked));
        let answered = answered.as_ref().map(|answered| json!(answered));
        let kind = match (&asked, &answered) {
            (_, Some(_)) => Some(ANSWERED),
            (Some(_), None) => Some(REQUESTED),
            (None, None) => None,
        };
        let timing = record.expires_time.iter();
        let timing = timing.map(|time| ("expires_time".to_owned(), json!(time)));
        let mut attached = record.attached.clone();
        if let Some(endorsed) = &record.endorsed {
            attached.data.json.clone_from(endorsed);
        }
        let context = entry.publishes.as_ref().map(|one| match one.object {
            EndorsedObject::Publication => "publication",
            EndorsedObject::Registry => "revocation_registry",
        });
        Self {
            transaction_id: id.to_owned(),
            kind,
            state: record.state.name(),
            connection_id: record.connection_id.clone(),
            thread_id: record.thread_id.clone(),
            signature_request: listed(asked),
            signature_response: listed(answered),
            timing: timing.collect(),
            formats: vec![json!({ "attach_id": record.attached.id, "format": FORMAT })],
            messages_attach: vec![json!(attached)],
            endorser_write_txn: false,
            meta_data: json!({ "context": { "publishes": context }, "processing": {} }),
            created_at: record.created_at.rfc3339(),
            updated_at: record.updated_at.rfc3339(),
        }
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.transaction_id
    }

    /// The name of its state.
    #[must_use]
    pub fn state(&self) -> &str {
        self.state
    }
}

/// The identifier of an author's record: the same transaction has the same one.
pub fn authored_id(transaction: &AuthoredTransaction) -> String {
    short(&[&b"author"[..], &transaction.hash()].concat())
}

/// The identifier of an endorser's record: a request that comes again has the same one.
pub fn received_id(connection_id: &str, thread_id: &str) -> String {
    short(format!("endorser {connection_id}\0{thread_id}").as_bytes())
}

/// The entry of the outbox by which a transaction goes on by itself.
pub fn call(tenant: &TenantId, id: &str, now: UnixTime) -> Result<NewOutbox> {
    let subject = format!("{tenant} {id}");
    Ok(NewOutbox {
        not_before: now,
        ..Call::Dialogue.entry(ENDORSEMENT, id, &subject, now)?
    })
}

fn short(named: &[u8]) -> String {
    let digest = hash::sha256(named);
    hex_encode(digest.get(..16).unwrap_or_default())
}
