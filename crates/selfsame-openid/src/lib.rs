//! The issuer and the verifier of OpenID4VC as use cases.
//!
//! Owns: what an issuer and a verifier can do, in terms of the protocols below and of the core. Does not own: the wallet,
//! status codes, HTML, terminals, SQL, sockets, and how an instance is put together.

mod certificate;
pub mod config;
mod context;
mod delegations;
pub mod issuer;
mod profile;
mod refusal;
mod roles;
pub mod verifier;

pub use context::{HeldProofs, OwnAct, OwnActEntry};
pub use roles::{OrganisationRoles, Roles};

/// What the roles take and return.
pub mod view {
    pub use selfsame_openid_view::{
        by_sign_in, documents, issuer, list_faces, uses, verifier, words,
    };

    /// Saved requests: as they are listed, opened, and seen by visitors.
    pub mod saved {
        pub use selfsame_openid_view::saved::VisitorsRequest;
        pub use selfsame_types::asked::listed::{RequestOpening, SavedRequest};
    }
}
