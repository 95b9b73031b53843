//! A use as it is kept.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Reason;
use selfsame_registry::Transaction;
use serde::{Deserialize, Serialize};

/// The kind of uses.
pub(crate) const USE: &str = "anoncreds_use";

/// A use that was ordered from the registry.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct UseRecord {
    /// How far it is.
    pub progress: UseProgress,
}

/// How far a use is.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) enum UseProgress {
    /// The registry is called until it answers.
    Pending {
        /// The transaction.
        transaction: String,
    },
    /// The registry has it.
    Done(UsedUp),
    /// It will never be done.
    Refused {
        /// Why.
        reason: Reason,
    },
}

/// A use that the registry has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct UsedUp {
    /// When the registry accepted it.
    pub at: UnixTime,
    /// The number of its transaction.
    pub seq_no: u64,
}

impl UseRecord {
    /// A use whose transaction is signed.
    pub fn ordered(transaction: &Transaction) -> Self {
        let transaction = base64url_encode(&transaction.to_bytes());
        Self {
            progress: UseProgress::Pending { transaction },
        }
    }

    /// Whether it awaits the answer to this transaction.
    pub fn awaits(&self, call: &str) -> bool {
        matches!(&self.progress, UseProgress::Pending { transaction } if transaction == call)
    }
}
