//! The OpenID provider as use cases: clients, sign-in flows, sessions, consents, grants.
//!
//! Owns: what is kept of a sign-in and for how long, what is redeemed once, the keys that tokens are signed with. Does
//! not own: who knows people ([`identity`] is the seam to that), pages, HTTP.

pub mod identity;
pub mod view;
