//! The Aries agent as a role of an organisation: connections and exchanges with other agents, over DIDComm.
//!
//! Owns: the agent's records, how they are driven, and which machine gets what arrives. Does not own: the rules of protocols (selfsame-aries),
//! how messages reach peers (selfsame-mediation), what controllers see (selfsame-agent-view), the driver
//! (selfsame-core), addresses and listeners.

mod agents;
mod connections;
mod discovery;
mod exchanges;
mod machine;
mod oob;
mod parts;

pub use agents::{Agents, ExchangeFilter, Exchanges, ListRange};
pub use exchanges::ExchangeProtocol;
pub use parts::{AgentSettings, AgentTerms, Hearing};
pub use selfsame_agent_view::connection::{
    ConnectionEndpoints, ConnectionFilter, ConnectionView, InvitationView,
};
pub use selfsame_mediation::local_dids::LocalDid;
pub use selfsame_mediation::wishes::{ExchangeBegin, InvitationAnswer, NewInvitation, Wishes};

/// Protocols that another crate speaks on the connections of agents.
pub mod beside {
    pub use crate::agents::BesideProtocol;
    pub use crate::connections::Aside;
}

/// Issuing credentials: what controllers give.
pub mod issue {
    pub use crate::exchanges::issuing::{
        IssueWhat, IssuingProtocol, NamedFilter, NewCredentialOffer, NewCredentialProposal,
    };
    pub use selfsame_agent_view::seen::IssuingStanding;
}

/// Presenting credentials: what controllers give.
pub mod present {
    pub use crate::exchanges::proving::{NewPresentation, ProofWhat, ProvingProtocol};
    pub use selfsame_mediation::wishes::{NamedRequest, NewProofRequest};
}

/// Connections by DID exchange and out-of-band: what controllers give, and what they see.
pub mod connect {
    pub use crate::agents::{DidRequestWish, NewDiscovery};
    pub use selfsame_agent_view::discovery::DiscoveryView;
    pub use selfsame_agent_view::out_of_band::{OobInvitationView, OobView};
    pub use selfsame_mediation::own_side::{OwnDid, OwnSide};
    pub use selfsame_mediation::public_did::PublicDid;
    pub use selfsame_mediation::wishes::{
        InvitationDid, NewOobInvitation, OobAnswer, RevocationNotification,
    };
}
