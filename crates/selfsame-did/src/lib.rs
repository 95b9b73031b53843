//! DID syntax, DID documents, DID methods and resolution results. Plans resolution, but fetches nothing.
//!
//! Owns: the forms of DIDs, DID URLs and DID documents; the keys a document gives for each relationship; making and
//! reading `did:key`, `did:jwk`, `did:web`, `did:webvh`, `did:peer`, `did:selfsame` and `did:cheqd` identifiers, as text
//! and in binary; the documents of agents from before DID Core; the messages to and from registrars of other methods.
//!
//! Does not own: fetching and caching (selfsame-net, selfsame-app), the state behind `did:selfsame`
//! (selfsame-registry), the logs of `did:webvh` (selfsame-webvh), HTTP status codes (selfsame-server).
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

mod binary;
mod did;
mod document;
pub mod legacy;
pub mod method;
pub mod registrar;
mod resolution;

pub use did::{Did, DidUrl, SyntaxError};
pub use document::{
    Document, DocumentError, KeyReference, Material, Relationship, Representation, Service,
    VerificationMethod,
};
pub use method::{ResolutionPlan, jwk, key, selfsame, web};
pub use resolution::{
    AsOf, DocumentMetadata, Options, Resolution, ResolutionError, ResolutionMetadata,
};
