//! Applications for credentials that need others: asked, proven, filled in, offered.
//!
//! Owns: an application from its beginning to its offer, and that its proof holds until the issuance. Does not own: when
//! a rule is met, how credentials are verified and issued, HTTP, HTML.

mod applications;
mod proof;
mod record;
mod roles;

pub use applications::Applications;
pub use record::APPLICATION;
pub use roles::{ApplicationRoles, WrittenWithOffer};
pub use selfsame_types::form::application as view;
