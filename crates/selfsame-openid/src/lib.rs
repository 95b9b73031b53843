//! The issuer, the wallet and the verifier of OpenID4VC as use cases.
//!
//! Owns: what an issuer, a wallet and a verifier can do, in terms of the protocols below and of the core. Does not own:
//! status codes, HTML, terminals, SQL, sockets, and how an instance is put together.

mod certificate;
pub mod config;
mod context;
pub mod issuer;
mod refusal;
mod roles;
pub mod verifier;
pub mod view;
pub mod wallet;

pub use roles::{OrganisationRoles, Roles};
