//! Who works for an organisation: people with roles, API keys, and the rights that an address needs.
//!
//! Owns: roles, rights, invitations, API keys. Does not own: passwords and sessions, which are of `selfsame-accounts`;
//! nor which address needs which right.

mod authority;
mod erasure;
mod invitation;
mod key;
mod operators;
mod people;
mod right;
mod role;
pub mod view;

#[cfg(test)]
mod tests;

pub use authority::{Actor, Authority};
pub use invitation::Acceptance;
pub use operators::{Operators, OperatorsParts};
pub use people::PersonAt;
pub use right::{AccessMode, Area, Needed, Right, Rights};
pub use role::OperatorRole;

/// The kinds of records that end when a backup is restored: sessions and invitations, and keys, since some may have been
/// revoked after the backup.
pub const SHORT_LIVED: [&str; 3] = [
    selfsame_accounts::OPERATOR_SESSION,
    invitation::INVITATION,
    key::KEY,
];
