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

pub mod content;
mod genesis;
mod head;
mod identifier;
mod machine;
mod refusal;
mod resolve;
mod rules;
mod state;
mod transaction;

pub use content::{Content, Uses};
pub use genesis::{Genesis, Rules};
pub use head::Head;
pub use identifier::Identifier;
pub use machine::{Applied, Block, Machine};
pub use refusal::{ApplyError, AuthorFault, CheckError, Refusal, SignatureFault};
use selfsame_proof::cbor;
pub use selfsame_proof::cbor::Malformed;
pub use state::{Anchor, Receipt, StateError, StateRead, Writes};
pub use transaction::{Operation, Signature, Transaction, Unsigned};
