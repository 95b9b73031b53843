//! Peers in TLS 1.3 with DIDs and credentials: which peers this side admits, what it presents to them, which
//! application protocol it speaks.

mod certificate;
mod policy;
mod resuming;
mod spoken;

pub use certificate::OwnCertificate;
pub use policy::{Own, Policy};
pub use resuming::Resuming;
pub use spoken::Spoken;
