//! A transaction: its author, its content, and the proof that it is in the log.

use askama::Template;
use selfsame_ledger::view::RegistryEntry;
use selfsame_ledger::view::browse::{InclusionView, OperationView};

use crate::Frame;
use crate::text::pretty;

/// The page of a transaction.
#[derive(Template)]
#[template(path = "registry_entry.html")]
pub struct TransactionPage {
    frame: Frame,
    first: OperationView,
    operations: Vec<OperationView>,
    keys: Vec<String>,
    raw: String,
    role: Option<&'static str>,
    proof: Option<InclusionView>,
    newest: u64,
}

/// A transaction, and what the registry says about it.
pub struct TransactionParts {
    /// Its first operation.
    pub first: OperationView,
    /// All of its operations.
    pub operations: Vec<OperationView>,
    /// The whole of it, as programs read it.
    pub entry: Vec<RegistryEntry>,
    /// The role of its author.
    pub role: Option<&'static str>,
    /// The proof that it is in the log; `None` for the genesis, and until a checkpoint includes it.
    pub proof: Option<InclusionView>,
    /// The number of the newest transaction.
    pub newest: u64,
}

impl TransactionPage {
    /// The page of this transaction.
    pub fn of(frame: Frame, parts: TransactionParts) -> Self {
        let signatures = parts.first.signatures.iter();
        Self {
            frame: frame.titled(title(parts.first.seq_no)),
            keys: signatures.map(|one| one.key.clone()).collect(),
            raw: pretty(&parts.entry),
            role: parts.role,
            newest: parts.newest,
            first: parts.first,
            operations: parts.operations,
            proof: parts.proof,
        }
    }
}

fn title(seq_no: u64) -> String {
    match seq_no {
        0 => "Genesis".to_owned(),
        _ => format!("Transaction {seq_no}"),
    }
}
