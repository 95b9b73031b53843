//! The Aries agent as a role of an organisation: connections and exchanges with other agents, over DIDComm.
//!
//! Owns: the agent's records, and which machine gets what arrives. Does not own: the rules of protocols (selfsame-aries),
//! the machine that drives records (selfsame-agent-kernel), how messages reach peers (selfsame-mediation), what
//! controllers see (selfsame-agent-view), addresses and listeners.

mod agents;
mod connections;
mod discovery;
mod exchanges;
mod oob;

pub use agents::{
    Agents, ConnectionEndpoints, ExchangeBegin, ExchangeFilter, Exchanges, InvitationAnswer,
    ListRange, LocalDid, NewInvitation,
};
pub use exchanges::{ExchangeProtocol, Wishes};
pub use selfsame_agent_kernel::parts::{AgentSettings, AgentTerms, Hearing};
pub use selfsame_agent_view::connection::{ConnectionFilter, ConnectionView, InvitationView};

/// Protocols that another crate speaks on the connections of agents.
pub mod beside {
    pub use crate::agents::BesideProtocol;
    pub use crate::connections::Aside;
}

/// Issuing credentials: what controllers give.
pub mod issue {
    pub use crate::agents::IssuingStanding;
    pub use crate::exchanges::issuing::{
        IssueWhat, IssuingProtocol, NamedFilter, NewCredentialOffer, NewCredentialProposal,
    };
}

/// Presenting credentials: what controllers give.
pub mod present {
    pub use crate::exchanges::proving::{
        NamedRequest, NewPresentation, NewProofRequest, ProofWhat, ProvingProtocol,
    };
}

/// Connections by DID exchange and out-of-band: what controllers give, and what they see.
pub mod connect {
    pub use crate::agents::{
        DidRequestWish, InvitationDid, NewDiscovery, NewOobInvitation, OobAnswer,
        RevocationNotification,
    };
    pub use selfsame_agent_view::discovery::DiscoveryView;
    pub use selfsame_agent_view::out_of_band::{OobInvitationView, OobView};
    pub use selfsame_mediation::own_side::{OwnDid, OwnSide};
    pub use selfsame_mediation::public_did::PublicDid;
}
