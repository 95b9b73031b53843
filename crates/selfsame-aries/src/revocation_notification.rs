//! Revocation notification 1.0 (RFC 0183) and 2.0 (RFC 0721): the issuer tells the holder that a credential is revoked.

mod messages;
mod step;

pub use messages::{RevocationMessage, RevokedCredential};
pub use step::{RevocationInput, step};
