//! Owns: the permits example: six issuers whose credentials need each other, invented businesses, the path walked by a wallet
//! over the public API, and the load test of a credential book behind `selfsame bench wallet`. Does not own: the instance,
//! its commands, what a rule is and when it holds; the server process and the report, which all load tests share.

mod bench;
mod business;
mod permits;
mod walk;

pub use bench::{NAME, WalletFindings, WalletPlan, WalletRun, run};
pub use business::Business;
pub use permits::{Office, PERMITS, Permit};
pub use walk::{ApiCall, InstanceApi, PermitStep, PermitsStory, RefusedTry, WalkError, walk};
