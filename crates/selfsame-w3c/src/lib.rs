//! W3C credentials and presentations as documents: an organisation signs them as they are given, and verifies those of
//! others (VC Data Model 1.1 and 2.0, VC Data Integrity 1.0).
//!
//! Owns: what a document must be before it is signed, challenges, and verdicts in the W3C's words. Does not own: proofs
//! (selfsame-data-integrity), whom the verifier trusts and the issuer's lists (selfsame-openid), HTTP.

mod challenge;
mod check;
mod document;
mod issue;
mod present;
mod problem;
mod signing;
mod status;
mod verify;

use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_openid::OrganisationRoles;

pub use challenge::CHALLENGE_LIFETIME;
pub use check::{
    CheckedValue, CredentialCheck, CredentialFindings, PresentationCheck, PresentationFindings,
};
pub use issue::IssueOrder;
pub use present::PresentOrder;
pub use problem::{VcProblem, W3cError, code};
pub use status::{StatusOrder, StatusPurpose};
pub use verify::{GivenCredential, GivenPresentation, PresentationDemand};

/// An organisation as the W3C's API sees it.
#[derive(Clone)]
pub struct W3cDesk {
    shared: Arc<Shared>,
    roles: Arc<OrganisationRoles>,
}

impl W3cDesk {
    /// The desk of an organisation.
    #[must_use]
    pub fn new(shared: Arc<Shared>, roles: Arc<OrganisationRoles>) -> Self {
        Self { shared, roles }
    }
}
