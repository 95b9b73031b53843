//! The Aries agent as a role of an organisation: connections and exchanges with other agents, over DIDComm.
//!
//! Owns: the agent's records, its keys and the routes to them, how messages are packed and delivered, which machine gets
//! what arrives. Does not own: the rules of protocols (selfsame-aries), envelopes (selfsame-didcomm), the driver
//! (selfsame-core), addresses and listeners.

mod agents;
mod connections;
mod destination;
mod error;
mod exchanges;
mod keys;
mod machine;
mod notice;
mod parts;
mod view;

pub use agents::{
    Agents, ConnectionEndpoints, ConnectionFilter, ExchangeBegin, ExchangeFilter, Exchanges,
    InvitationAnswer, ListRange, LocalDid, NewInvitation,
};
pub use exchanges::issuing::{
    IssueWhat, Issuing, NamedFilter, NewCredentialOffer, NewCredentialProposal,
};
pub use exchanges::proving::{NamedRequest, NewPresentation, NewProofRequest, ProofWhat, Proving};
pub use exchanges::{ExchangeProtocol, Wishes};
pub use parts::{AgentSettings, AgentTerms, Hearing};
pub use view::{ConnectionView, InvitationView};
