//! What happened on the wire: the messages of issuances, presentations and sign-ins, decoded and masked.
//!
//! Owns: what of a message is kept and in which form, which messages belong to one flow, how much is kept and for how
//! long. Does not own: who may see it, HTTP, HTML.

mod bodies;
mod exchange;
mod links;
mod masked;
mod parties;
mod record;
mod rules;
mod texts;
mod wallet;
mod wires;

pub use bodies::shown_body;
pub use exchange::{WireAnswer, WireExchange, WireRequest, WireStep};
pub use parties::{FlowKind, WireParty};
pub use record::{RecordedFlow, RecordedMessage, RecordedSummary, WireSwitch};
pub use texts::shown_address;
pub use wallet::{WalletFetch, WalletRequest, WalletWire};
pub use wires::{FLOW_BYTES, FLOWS_MAX, KEPT_SECONDS, MESSAGES_MAX, ON_SECONDS, Wires};

/// The tenant whose flows are recorded.
pub type WireTenant = selfsame_store::TenantId;
