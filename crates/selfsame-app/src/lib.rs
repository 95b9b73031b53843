//! One instance: the core, the roles, the wallet and the registry, put together, started and stopped.
//!
//! Owns: which parts an instance has, its start and end, its worker, its operator, its backups, the export of its traces,
//! and evidence for TLS handshakes. Does not own: what a role does, status codes, HTML, terminals, SQL, sockets.

mod anoncreds;
mod app;
pub mod backup;
pub mod config;
mod connected;
pub mod figures;
pub mod newcomer;
pub mod node;
pub mod operator;
mod rotation;
pub mod tls;
pub mod traces;
pub mod view;

pub use app::{
    Access, App, DatedChain, ExportWish, Exported, FoundWallet, ManagerOfClients, NewWallet, Parts,
    SeatAct, StatusActor, SubWallet, WalletChange, audited,
};
pub use selfsame_openid::OrganisationRoles;

/// What the faces of agents give and get.
pub mod agent {
    pub use crate::app::{
        AgentNotices, AgentType, AuthorAgreement, GivenAcceptance, HeardNotice, IssuedPlace,
        OrganisationAgent, WaitingNotification,
    };
}
