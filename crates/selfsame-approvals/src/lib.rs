//! Credentials that wait for a decision (OpenID4VCI 1.0 §9): what is kept of their requests, who decides, and what a wallet
//! gets that looks for one.
//!
//! Owns: the record of a deferred request and its steps, the list of those that wait, decisions, the access tokens that
//! live as long as a wallet waits. Does not own: how keys of credentials are proven and credentials made, HTTP, HTML.

mod approvals;
mod deferral;
pub mod possession;
mod sought;
pub mod view;

#[cfg(test)]
mod tests;

pub use approvals::Approvals;
pub use deferral::{
    DEFERRAL, Decision, DeferralRecord, DeferralState, LookOutcome, RequestedCredential, id_of,
    unknown,
};
pub use sought::SoughtDeferral;
