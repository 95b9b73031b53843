//! DID syntax, DID documents, resolution results and methods; a resolution *plan*, not a fetch.
//!
//! Owns: what a DID, a DID URL and a DID document may be; which key a document gives for which relationship;
//! how `did:key`, `did:jwk`, `did:web`, `did:selfsame` and `did:cheqd` identifiers are made and read; what is said to
//! a registrar of other methods.
//!
//! Does not own: fetching and caching (selfsame-net, selfsame-app), the state behind `did:selfsame`
//! (selfsame-registry), HTTP status codes (selfsame-server).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod cheqd;
mod did;
mod document;
pub mod jwk;
pub mod key;
mod plan;
pub mod registrar;
mod resolution;
pub mod selfsame;
pub mod web;

pub use did::{Did, DidUrl, SyntaxError};
pub use document::{
    Document, DocumentError, Material, Reference, Relationship, Representation, Service,
    VerificationMethod,
};
pub use plan::{Plan, plan};
pub use resolution::{
    AsOf, DocumentMetadata, Options, Resolution, ResolutionError, ResolutionMetadata,
};
