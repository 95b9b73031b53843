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
    let Described {
        kind,
        subject,
        mut content,
    } = operations(&body.operations, &author);
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
        kind,
        subject,
        author,
        content: Value::Object(content),
    })
}

/// What an operation is called, what it is about, what it says.
struct Described {
    kind: String,
    subject: String,
    content: Map<String, Value>,
}

/// One operation as itself, several as a batch of them.
fn operations(operations: &[Operation], author: &str) -> Described {
    if let [one] = operations {
        return operation(one, author);
    }
    let each: Vec<Value> = operations
        .iter()
        .map(|one| {
            let mut described = operation(one, author);
            described
                .content
                .insert("kind".to_owned(), json!(described.kind));
            described
                .content
                .insert("subject".to_owned(), json!(described.subject));
            Value::Object(described.content)
        })
        .collect();
    Described {
        kind: "batch".to_owned(),
        subject: author.to_owned(),
        content: Map::from_iter([("operations".to_owned(), Value::Array(each))]),
    }
}

fn operation(operation: &Operation, author: &str) -> Described {
    let own = author.to_owned();
    let (kind, subject, content) = match operation {
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
    };
    Described {
        kind: kind.to_owned(),
        subject,
        content,
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
