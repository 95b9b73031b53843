//! AnonCreds of the tenants of one process: what an issuer publishes and keeps, what a holder keeps, and the objects of
//! others, as the registry has them.
//!
//! Owns: the publication of schemas, credential definitions and revocation registries; their private keys; the link
//! secret and the credentials of holders; the reading of published objects, with a cache. Does not own: formats and
//! proofs (selfsame-anoncreds), the order of checks in each role (selfsame-anoncreds-roles), how offers, requests and
//! presentations travel.

mod holding;
mod issuing;
mod verifying;
mod wallet;

pub use holding::{
    ChosenCredentials, CredentialInfo, MatchingCredential, RequestedCredential, ShownAttribute,
    ShownPredicate, StoredCredential,
};
pub use issuing::{DefinitionFilter, IssuedCredential, NewIssuance};
pub use verifying::ProofVerdict;
pub use wallet::AnonCreds;
