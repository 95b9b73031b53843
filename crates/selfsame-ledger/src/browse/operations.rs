//! Transactions split into operations: one view for each, and the labels and words to find it by.

use std::collections::BTreeSet;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::{Error, Result};
use selfsame_registry::Transaction;
use selfsame_registry::describe::{limits, sentence};
use selfsame_registry::transaction::Signature;
use selfsame_store::ledger::Placed;
use serde_json::{Value, json};

use super::views::{IndyLedger, Type};
use crate::entry;
use crate::ledger::Ledger;
use crate::view::browse::{OperationView, SignatureView};

/// Longer texts are not indexed as words: keys, digests, large numbers.
const WORD_BYTES_MAX: usize = 128;
/// Maximum bytes of an operation's searchable text.
const WORDS_BYTES_MAX: usize = 4_096;

/// The operations of a logged transaction, in order.
pub(super) fn of(ledger: &Ledger, placed: &Placed) -> Result<Vec<OperationView>> {
    let time = ledger.block(placed.height)?.time;
    let entry = entry::described(ledger.machine(), placed, time)?;
    let transaction = Transaction::from_bytes(&placed.entry.bytes).map_err(Error::internal)?;
    let endorser = entry.content["endorser"].as_str().map(str::to_owned);
    let mut signatures = signed(&entry.author, transaction.signatures());
    if let Some(endorser) = &endorser {
        signatures.extend(signed(endorser, transaction.endorsements()));
    }
    let parts = match entry.content.get("operations").and_then(Value::as_array) {
        Some(operations) if entry.kind == "batch" => operations.iter().map(apart).collect(),
        _ => vec![(
            entry.kind.clone(),
            entry.subject.clone(),
            own(&entry.content),
        )],
    };
    let count = parts.len() as u64;
    let views = (1..).zip(parts).map(|(place, (kind, subject, content))| {
        let said = sentence(&kind, &subject, &content);
        OperationView {
            seq_no: placed.seq,
            place,
            of: count,
            height: placed.height,
            unix_time: time.0,
            time: entry.time.clone(),
            hash: entry.hash.clone(),
            kind,
            author: entry.author.clone(),
            endorser: endorser.clone(),
            subject,
            said,
            content,
            nonce: transaction.body().nonce,
            signatures: signatures.clone(),
        }
    });
    Ok(views.collect())
}

/// The content of the genesis, as operations before all others.
pub(super) fn of_genesis(ledger: &Ledger) -> Vec<OperationView> {
    let (genesis, machine) = (ledger.genesis(), ledger.machine());
    let network = machine.network().to_string();
    let validators = genesis.validators().validators().iter().map(|validator| {
        let content = json!({
            "name": validator.name,
            "key": validator.key.to_multikey(),
            "power": validator.power,
            "consensus_key": validator.consensus.as_ref().map(|key| key.to_multikey()),
        });
        ("validator", validator.name.clone(), content)
    });
    let members = genesis.members().iter().filter_map(|member| {
        let did = machine.did(member.id()?)?.to_string();
        let content = json!({
            "public_key": member.key.to_multikey(),
            "role": member.role.name(),
        });
        Some(("member", did, content))
    });
    let rules = ("first_rules", network, limits(genesis.rules()));
    let all: Vec<_> = validators.chain(members).chain([rules]).collect();
    let count = all.len() as u64;
    let hash = hex_encode(&sha256(&genesis.to_bytes()));
    let views = (1..)
        .zip(all)
        .map(|(place, (kind, subject, content))| OperationView {
            seq_no: 0,
            place,
            of: count,
            height: 0,
            unix_time: genesis.time().0,
            time: genesis.time().rfc3339(),
            hash: hash.clone(),
            said: sentence(kind, &subject, &content),
            kind: kind.to_owned(),
            author: String::new(),
            endorser: None,
            subject,
            content,
            nonce: 0,
            signatures: Vec::new(),
        });
    views.collect()
}

/// The labels by which an operation is listed.
pub(super) fn labels(operation: &OperationView) -> Vec<String> {
    let kind = Type::of(&operation.kind);
    let mut labels = vec![view_label(kind.view()), type_label(kind)];
    if operation.seq_no == 0 {
        return labels;
    }
    labels.push(kind_label(&operation.kind));
    let other = ["to", "issuer"].map(|name| operation.content[name].as_str());
    let named = [Some(operation.author.as_str()), Some(&operation.subject)];
    let named = named.into_iter().chain([operation.endorser.as_deref()]);
    let dids: BTreeSet<&str> = named.chain(other).flatten().filter_map(did_of).collect();
    labels.extend(dids.into_iter().map(did_label));
    labels
}

/// The label of a view.
pub(super) fn view_label(view: IndyLedger) -> String {
    format!("view={}", view.name())
}

/// The label of a view's type.
pub(super) fn type_label(kind: Type) -> String {
    format!("type={}/{}", kind.view().name(), kind.code())
}

/// The label of a kind.
pub(super) fn kind_label(kind: &str) -> String {
    format!("kind={kind}")
}

/// The label of a DID that wrote an operation or that it is about.
pub(super) fn did_label(did: &str) -> String {
    format!("did={did}")
}

/// The DID of a DID or DID URL.
fn did_of(text: &str) -> Option<&str> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    text.get(..end).filter(|did| did.starts_with("did:"))
}

/// The text by which an operation is searched: all that it says in words.
pub(super) fn words(operation: &OperationView) -> String {
    let mut words = format!(
        "{} {} {} {} {}",
        operation.kind, operation.said, operation.author, operation.subject, operation.hash
    );
    texts(&operation.content, &mut words);
    words
}

fn texts(value: &Value, to: &mut String) {
    match value {
        Value::String(text)
            if text.len() <= WORD_BYTES_MAX
                && to.len().saturating_add(text.len()) < WORDS_BYTES_MAX =>
        {
            to.push(' ');
            to.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, to)),
        Value::Object(members) => members.values().for_each(|member| texts(member, to)),
        _ => {}
    }
}

fn signed(by: &str, signatures: &[Signature]) -> Vec<SignatureView> {
    let view = |signature: &Signature| SignatureView {
        key: format!("{by}#{}", signature.key),
        bytes: signature.bytes.to_vec(),
    };
    signatures.iter().map(view).collect()
}

/// Kind, subject and content of an operation in a batch.
fn apart(operation: &Value) -> (String, String, Value) {
    let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("subject"), own(operation))
}

/// The content of an operation, without the members that belong to its transaction.
fn own(content: &Value) -> Value {
    let outer = [
        "nonce",
        "signed_by",
        "endorser",
        "endorsed_by",
        "accepted_agreement",
        "kind",
        "subject",
    ];
    let mut content = content.clone();
    if let Value::Object(members) = &mut content {
        members.retain(|name, _| !outer.contains(&name.as_str()));
    }
    content
}
