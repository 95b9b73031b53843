//! Owns: what a verdict says, and the checklist from which it is made. Every family of credentials uses them.
//! Does not own: any rule, and the evidence for it; both belong to the family.
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

mod checklist;
mod law;
mod verdict;

pub use checklist::{Checklist, RuleRefusal};
pub use law::{BrokenRule, Law};
pub use verdict::{Outcome, Rule, Verdict};
