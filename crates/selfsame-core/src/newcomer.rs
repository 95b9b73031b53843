//! Parties whose DIDs an instance registers for them in a registry.

use selfsame_crypto::{PrivateKey, PublicKey};
use selfsame_did::Did;

pub use selfsame_registry::network::Role;

/// A party to be registered.
#[derive(Clone, Copy, Debug)]
pub struct Newcomer<'a> {
    /// Its key, from which its identifier is made.
    pub key: &'a PublicKey,
    /// The consent of its key, needed for Indy's form of identifier.
    pub consent: Consent<'a>,
    /// Its DID, or the last part of it. Default: Indy's form if the key consents, else that of the key's digest.
    pub did: Option<&'a str>,
    /// The role that it gets.
    pub role: Option<Role>,
    /// The version of the author agreement that the caller has accepted, if the network has an agreement.
    pub accepts: Option<&'a str>,
}

/// How the owner of a key consents to an identifier made of half of the key itself, which is Indy's form. An identifier
/// made of the key's digest needs no consent.
#[derive(Clone, Copy, Debug)]
pub enum Consent<'a> {
    /// Without consent.
    None,
    /// By the private key, which the registrar has.
    Key(&'a PrivateKey),
    /// By a signature over [`selfsame_registry::Identifier::consent_bytes`].
    Signature(&'a [u8; 64]),
}

/// A DID in the registry.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The DID.
    pub did: Did,
    /// Its last part.
    pub id: String,
    /// Whether it existed before; then nothing was written.
    pub existed: bool,
}
