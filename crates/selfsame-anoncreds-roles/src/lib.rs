//! The use cases of AnonCreds: what an issuer, a holder and a verifier do with messages and published objects.
//!
//! Owns: the choice of credentials for a request, the order of checks when a credential arrives or a presentation
//! leaves, the rules for continuing a status list. Does not own: formats and proofs, where messages and objects are
//! kept, how they travel, the words for people.

pub mod answer;
mod error;
mod held;
pub mod holder;
pub mod issuer;
mod key;
mod published;
pub mod verifier;

pub use error::{MissingObject, RoleError};
pub use held::HeldCredential;
pub use key::KeyProofs;
pub use published::PublishedObjects;
