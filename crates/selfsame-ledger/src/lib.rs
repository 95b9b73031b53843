//! Registries as use cases see them: one interface, embedded in this process or at other addresses.
//!
//! Owns: storing a ledger, reading and proving it, browsing and checking it, its witnesses, and the client of several
//! nodes. Does not own: the registry's rules, the verification of reads, credentials, HTTP.

pub mod archive;
pub mod browse;
pub mod check;
pub mod config;
pub mod embedded;
mod entry;
mod ledger;
mod network;
mod policy;
mod refusal;
mod registry;
pub mod remote;
mod rules;
mod search;
mod times;
mod uses;
mod witnesses;

pub use ledger::{Damage, Ledger, standing};
pub use network::{checkpoint_verifier, log_origin, tenant, trust_root};
pub use refusal::{parse_transaction, refused};
pub use registry::{LocalRegistry, Registry, ServedRegistry, StateReading};
pub use rules::MachineRules;
pub use selfsame_ledger_view as view;
pub use selfsame_proof::entries::ENTRIES_MAX;
pub use times::Times;
