//! The admin API of Aries agents, compatible with ACA-Py's, and the endpoint that their peers post envelopes to.
//!
//! Owns: the addresses, members and errors of the admin API and its description, the API key and the tokens of
//! sub-wallets, the reception of envelopes. Does not own: what an operation does, which is a use case of
//! `selfsame-agent` or `selfsame-app`; listeners, connections and their limits.

mod admin;
mod answer;
mod call;
mod caller;
mod description;
mod inbound;
mod listening;
mod listing;
mod operation;
mod operations;
mod router;
mod section;
mod settings;
mod socket;

#[cfg(test)]
mod tests;

pub use inbound::inbound;
pub use router::admin;
pub use section::AgentSection;
pub use settings::AdminSettings;
