//! Peers in TLS 1.3 with DIDs and credentials: which of them are admitted, what this side presents, and the protocol.

mod certificate;
mod policy;
mod resuming;
mod spoken;

pub use certificate::OwnCertificate;
pub use policy::{Own, PeerRules};
pub use resuming::Resuming;
pub use spoken::Spoken;
