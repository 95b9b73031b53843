//! Owns: the registry's transactions, rules and deterministic state machine, and what resolution
//! reads from its state. Does not own: storage, the order of transactions, the checkpoint's private
//! key, proofs.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod agreement;
mod authority;
pub mod content;
mod did;
mod encoding;
mod genesis;
mod head;
mod history;
mod identifier;
mod judge;
mod machine;
mod operation;
mod refusal;
mod resolve;
mod rules;
mod state;
mod status;
mod transaction;

pub use agreement::Acceptance;
pub use authority::Role;
pub use content::{Content, Uses};
pub use genesis::{Genesis, Member};
pub use head::Head;
pub use identifier::Identifier;
pub use machine::{Applied, Block, Machine};
pub use operation::Operation;
pub use refusal::{ApplyError, AuthorFault, CheckError, Refusal, SignatureFault};
pub use rules::{Mode, Rules};
pub use selfsame_proof::cbor::Malformed;
pub use state::{Anchor, Receipt, StateError, StateRead, Writes, is_mark, never_changes};
pub use transaction::{Body, Signature, Transaction, Unsigned};

use selfsame_proof::cbor;
