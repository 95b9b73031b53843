//! AnonCreds of the tenants of one process: what an issuer publishes and keeps, what a holder keeps, and the objects of
//! others, as the registry has them.
//!
//! Owns: the publication of schemas, credential definitions and revocation registries; their private keys; the link
//! secret and the credentials of holders; the reading of published objects, with a cache. Does not own: formats and
//! proofs (selfsame-anoncreds), the order of checks in each role (selfsame-anoncreds-roles), how offers, requests and
//! presentations travel.

mod bounded;
mod endorsing;
mod error;
mod held;
mod holding;
mod issuer_files;
mod issuing;
mod key_proofs;
mod keys;
mod link_secret;
pub mod matching;
mod moving;
mod naming;
mod objects;
mod places;
mod presenting;
mod publication;
mod publishing;
mod registries;
mod registry;
mod secret_text;
mod showcase;
mod showing;
pub mod single_use;
mod states;
mod tails;
mod uses;
mod verifying;
mod view;
mod wallet;
mod wql;

pub use publication::{
    DefinitionFilter, NewCredentialDefinition, NewSchema, Publication, PublicationState,
};
pub use publishing::{CredentialDefinitionView, SchemaView};
pub use registries::{IssuanceState, IssuanceView, PlacesByRegistry};
pub use registry::{RegistryStage, RegistryView};
pub use verifying::ProofVerdict;
pub use view::{ChosenCredentials, CredentialInfo, ShownAttribute, ShownPredicate};
pub use wallet::AnonCreds;

/// Credentials that anybody may be shown.
pub mod show {
    pub use crate::showcase::{KeptCredential, MayShow, Showcase};
    pub use crate::showing::RevokedPlaces;
}

/// Holding: what a holder requests, and what it keeps.
pub mod hold {
    pub use crate::holding::{RequestedCredential, StoredCredential};
}

/// Publishing through an endorser: what waits, and what comes back.
pub mod endorse {
    pub use crate::endorsing::{AuthoredWrite, EndorsedObject, Endorser, Endorsing, endorsed};
    pub use crate::naming::did_beside;
    pub use crate::publishing::{EndorsedWrite, RequestedPublication};
}

/// Issuing: what is given, and what is made.
pub mod issue {
    pub use crate::issuing::{CompletedIssuance, DefinitionOffer, NewIssuance};
    pub use crate::publishing::DefinitionOrigin;
}

/// Revocation: the names of tails files, and how an agent and the ledger differ.
pub mod revocation {
    pub use crate::registries::{BegunRegistry, NewRevocationRegistry, RegistryDifference};
    pub use crate::tails::TailsName;

    /// Tails files of a tenant that moves.
    pub mod moving {
        pub use crate::moving::{TAILS_MAX, arrival, file, hashes};
    }
}
