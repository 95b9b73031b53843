//! Protocol endpoints: what other wallets, issuers, verifiers, resolvers and readers of a registry call.
//!
//! Owns: the addresses of specifications and their descriptions, which organisation is called, the parameters and the form of each answer. Does not
//! own: who may call an address, its limits and its errors' format, which `selfsame-server` gives to each list of
//! routes; the API and the pages; nor the meaning of a request, which is a use case's.

mod addressed;
pub mod called;
pub mod followed;
pub mod hosted;
mod instance;
pub mod issuer;
pub mod registry;
pub mod remote_wallet;
pub mod resolver;
pub mod routes;
pub mod tails;
pub mod verifier;
pub mod von_network;

pub use addressed::Addressed;
pub use instance::{ActiveRolesHere, EndpointHost, Instance, RolesHere, WithToken};
pub use selfsame_openid4vc::wire::credential::CredentialAnswer;
pub use selfsame_remote_wallet::RemoteWallets;
pub use selfsame_sign_in::access::PresentedToken;
