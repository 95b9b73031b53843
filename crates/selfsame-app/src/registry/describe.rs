//! Transactions in readable form.

mod operations;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_registry::transaction::Signature;
use selfsame_registry::{Machine, Transaction};
use selfsame_store::ledger::Placed;
use serde_json::{Value, json};

use self::operations::{Described, Describer, day};
use crate::error::{Error, Result};
use crate::view::registry::RegistryEntry;

/// Describes a logged transaction for people.
pub(super) fn entry(machine: &Machine, placed: &Placed, time: UnixTime) -> Result<RegistryEntry> {
    let transaction = Transaction::from_bytes(&placed.entry.bytes).map_err(Error::internal)?;
    let body = transaction.body();
    let did = |id| {
        let did = machine.did(id).map(|did| did.to_string());
        did.ok_or_else(|| Error::internal("an identifier does not form a DID"))
    };
    let author = did(body.author)?;
    let describer = Describer {
        machine,
        author: &author,
    };
    let Described {
        kind,
        subject,
        mut content,
    } = describer.all(&body.operations);
    content.insert("nonce".to_owned(), json!(body.nonce));
    content.insert("signed_by".to_owned(), keys(transaction.signatures()));
    if let Some(endorser) = body.endorser {
        content.insert("endorser".to_owned(), json!(did(endorser)?));
        content.insert("endorsed_by".to_owned(), keys(transaction.endorsements()));
    }
    if let Some(accepted) = &body.agreement {
        let accepted = json!({ "version": accepted.version, "day": day(accepted.day) });
        content.insert("accepted_agreement".to_owned(), accepted);
    }
    Ok(RegistryEntry {
        seq_no: placed.seq,
        height: placed.height,
        time: time.rfc3339(),
        hash: hex_encode(&placed.entry.hash),
        kind,
        subject,
        author,
        content: Value::Object(content),
        unproven: Vec::new(),
    })
}

/// The rules, each by its name.
pub(super) fn rules(rules: &selfsame_registry::Rules) -> Value {
    operations::limits(rules)
}

fn keys(signatures: &[Signature]) -> Value {
    signatures
        .iter()
        .map(|signature| signature.key.as_str())
        .collect()
}
