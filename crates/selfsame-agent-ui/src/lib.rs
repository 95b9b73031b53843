//! The addresses of an agent's pages.
//!
//! Owns: the addresses, their parameters and forms, which use cases each calls. Does not own: who may use an address,
//! which `selfsame-server` gives to each list of routes; HTML, which is of `selfsame-agent-pages` and `selfsame-pages`;
//! nor the meaning of an act, which is a use case's.

mod ask;
mod connections;
mod exchanges;
mod here;
mod invitations;
mod issue;
mod offered;
mod registries;
pub mod routes;
mod shown;

pub use here::{AgentHere, AgentHost, AgentTenant, Revocation};
