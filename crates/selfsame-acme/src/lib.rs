//! Owns: certificates by ACME (RFC 8555): their settings, when they are ordered, the account, what is kept of them.
//! Does not own: handshakes and listeners (selfsame-http), the protocol's messages (instant-acme), which hosts an
//! instance has.

mod account;
mod answers;
mod call;
mod failure;
mod keeper;
mod order;
mod plan;
mod records;
mod settings;
mod shown;
#[cfg(test)]
mod tests;

pub use keeper::{AcmeParts, OrganisationHosts};
pub use settings::{AcmeSettings, TWO_SOURCES};
pub use shown::first_certificate;
