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
pub mod anoncreds;
mod authority;
mod consumption;
pub mod content;
mod delegation;
pub mod describe;
mod did;
mod encoding;
mod genesis;
mod governance;
mod head;
mod history;
mod identifier;
mod judge;
mod machine;
mod member;
mod operation;
mod proven;
mod receipt;
pub mod refusal;
pub mod resource;
mod rules;
mod state;
mod status;
pub mod transaction;

/// Who may write, who validates, and by which rules.
pub mod network {
    pub use crate::agreement::{Acceptance, Agreement, AgreementInForce};
    pub use crate::authority::{Act, Role, Whose};
    pub use crate::genesis::Member;
    pub use crate::governance::ValidatorChange;
    pub use crate::member::Membership;
    pub use crate::rules::{MACHINE_VERSION, Mode};
}

/// Single use and delegated revocation.
pub mod single_use {
    pub use crate::consumption::{Consume, Consumption, use_digest};
    pub use crate::delegation::{Action, Delegation, GivenDelegation};
}

pub use content::Content;
pub use genesis::Genesis;
pub use head::Head;
pub use identifier::Identifier;
pub use machine::{Applied, Block, StateMachine};
pub use operation::Operation;
pub use receipt::Receipt;
pub use refusal::Refusal;
pub use rules::Rules;
pub use state::{StateError, StateRead, Writes};
pub use status::Anchor;
pub use transaction::{Transaction, UnsignedTransaction};
