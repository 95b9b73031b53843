//! A logged transaction as people see it.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_proof::entries::ProvenEntry;
use selfsame_registry::describe::Described;
use selfsame_registry::{StateMachine, Transaction};
use selfsame_store::ledger::{Entry, Placed};
use serde_json::Value;

use crate::view::RegistryEntry;

/// Describes a logged transaction for people.
pub(crate) fn described(
    machine: &StateMachine,
    placed: &Placed,
    time: UnixTime,
) -> Result<RegistryEntry> {
    let transaction = Transaction::from_bytes(&placed.entry.bytes).map_err(Error::internal)?;
    let Described {
        kind,
        author,
        subject,
        content,
    } = machine.describe(&transaction).map_err(Error::internal)?;
    Ok(RegistryEntry {
        seq_no: placed.seq,
        height: placed.height,
        time: time.rfc3339(),
        hash: hex_encode(&placed.entry.hash),
        kind,
        author,
        subject,
        content: Value::Object(content),
        unproven: Vec::new(),
    })
}

/// Describes a proven transaction for people. The words are those of this process and not of the node.
pub(crate) fn proven(entry: ProvenEntry, machine: &StateMachine) -> Result<RegistryEntry> {
    let hash = Transaction::from_bytes(&entry.transaction)
        .map_err(|_| Error::upstream("log-entry-malformed"))?
        .hash();
    let placed = Placed {
        seq: entry.seq_no,
        height: entry.height,
        entry: Entry {
            hash,
            bytes: entry.transaction,
        },
    };
    described(machine, &placed, entry.time)
}
