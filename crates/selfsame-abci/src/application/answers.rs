//! Answers in the engine's types.

use std::num::NonZeroU32;

use bytes::Bytes;
use selfsame_crypto::time::UnixTime;
use selfsame_registry::{Head, Receipt, Refusal};
use tendermint::abci::response::CheckTx;
use tendermint::abci::types::ExecTxResult;
use tendermint::{AppHash, block};

use super::Halt;

/// Why a transaction is not accepted, for the engine. All validators return equal codes, so the block's header covers
/// them.
#[derive(Clone, Copy)]
pub(super) enum Code {
    /// The bytes are not a transaction of the registry.
    Malformed = 1,
    /// The machine refuses the transaction; the code space says why.
    Refused = 2,
    /// The transaction is already in the log.
    Known = 3,
    /// This node could not judge it.
    Failed = 4,
}

impl From<Code> for tendermint::abci::Code {
    fn from(code: Code) -> Self {
        NonZeroU32::new(code as u32).map_or(Self::Ok, Self::Err)
    }
}

/// The answer for a transaction that may wait for a block.
pub(super) fn checked() -> CheckTx {
    CheckTx::default()
}

/// The answer for a transaction that may not wait for a block.
pub(super) fn not_checked(code: Code, name: &str, reason: String) -> CheckTx {
    CheckTx {
        code: code.into(),
        codespace: name.to_owned(),
        log: reason,
        ..CheckTx::default()
    }
}

/// A transaction's result: its number in the log as eight bytes, or the reason why it has none.
pub(super) fn executed(result: Option<&Result<Receipt, Refusal>>) -> ExecTxResult {
    let (code, name, reason) = match result {
        Some(Ok(receipt)) => {
            return ExecTxResult {
                data: Bytes::copy_from_slice(&receipt.seq_no.to_be_bytes()),
                ..ExecTxResult::default()
            };
        }
        Some(Err(refusal)) => (Code::Refused, refusal.code(), refusal.to_string()),
        None => (
            Code::Malformed,
            "malformed",
            "not a transaction of this registry".to_owned(),
        ),
    };
    ExecTxResult {
        code: code.into(),
        codespace: name.to_owned(),
        log: reason,
        ..ExecTxResult::default()
    }
}

/// A height in the engine's type.
pub(super) fn height(height: u64) -> Result<block::Height, Halt> {
    block::Height::try_from(height).map_err(|error| Halt(format!("height {height}: {error}")))
}

/// The digest that the validators agree on.
pub(super) fn app_hash(head: &Head) -> Result<AppHash, Halt> {
    AppHash::try_from(head.app_hash().to_vec()).map_err(|error| Halt(error.to_string()))
}

/// A header's time, in whole seconds.
pub(super) fn seconds(time: tendermint::Time) -> UnixTime {
    UnixTime(u64::try_from(time.unix_timestamp()).unwrap_or(0))
}
