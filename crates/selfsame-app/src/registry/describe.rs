//! Transactions in readable form.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_registry::content::{Key, Service};
use selfsame_registry::{Content, Machine, Operation, Transaction, Uses};
use selfsame_store::ledger::Placed;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::view::registry::RegistryEntry;

const USES: [(Uses, &str); 5] = [
    (Uses::AUTHENTICATION, "authentication"),
    (Uses::ASSERTION, "assertionMethod"),
    (Uses::AGREEMENT, "keyAgreement"),
    (Uses::INVOCATION, "capabilityInvocation"),
    (Uses::DELEGATION, "capabilityDelegation"),
];

/// A logged transaction for people.
pub(super) fn entry(machine: &Machine, placed: &Placed, time: UnixTime) -> Result<RegistryEntry> {
    let transaction = Transaction::from_bytes(&placed.entry.bytes).map_err(Error::internal)?;
    let body = transaction.body();
    let author = machine
        .did(body.author)
        .ok_or_else(|| Error::internal("an author's identifier makes no DID"))?
        .to_string();
    let (kind, subject, mut content) = operation(&body.operation, &author);
    content.insert("nonce".to_owned(), json!(body.nonce));
    let signed_by: Vec<&str> = transaction
        .signatures()
        .iter()
        .map(|signature| signature.key.as_str())
        .collect();
    content.insert("signed_by".to_owned(), json!(signed_by));
    Ok(RegistryEntry {
        seq_no: placed.seq,
        height: placed.height,
        time: time.rfc3339(),
        hash: hex_encode(&placed.entry.hash),
        kind: kind.to_owned(),
        subject,
        author,
        content: Value::Object(content),
    })
}

/// What an operation is called, what it is about, what it says.
fn operation(operation: &Operation, author: &str) -> (&'static str, String, Map<String, Value>) {
    let own = author.to_owned();
    match operation {
        Operation::CreateDid(content) => ("create_did", own, document(1, content)),
        Operation::UpdateDid { version, content } => {
            ("update_did", own, document(*version, content))
        }
        Operation::DeactivateDid { version } => (
            "deactivate_did",
            own,
            Map::from_iter([("version".to_owned(), json!(version))]),
        ),
        Operation::AnchorStatus {
            list,
            digest,
            issued,
        } => {
            let content = [
                ("digest".to_owned(), json!(hex_encode(digest))),
                ("issued".to_owned(), json!(issued.rfc3339())),
            ];
            ("anchor_status", list.clone(), Map::from_iter(content))
        }
    }
}

fn document(version: u64, content: &Content) -> Map<String, Value> {
    let mut members = Map::from_iter([
        ("version".to_owned(), json!(version)),
        ("keys".to_owned(), content.keys.iter().map(key).collect()),
    ]);
    if !content.services.is_empty() {
        members.insert(
            "services".to_owned(),
            content.services.iter().map(service).collect(),
        );
    }
    if !content.also_known_as.is_empty() {
        members.insert("also_known_as".to_owned(), json!(content.also_known_as));
    }
    members
}

fn key(key: &Key) -> Value {
    let uses: Vec<&str> = USES
        .iter()
        .filter(|(uses, _)| key.uses.include(*uses))
        .map(|(_, name)| *name)
        .collect();
    json!({ "id": key.id, "public_key": key.public.to_multikey(), "uses": uses })
}

fn service(service: &Service) -> Value {
    json!({ "id": service.id, "type": service.kind, "endpoint": service.endpoint })
}
