//! The private keys that a recipient holds.

use std::collections::BTreeMap;

use selfsame_crypto::agreement::AgreementPrivate;

/// Which of the keys that an envelope names are held. An agent that keeps its keys in a store reads the names from the
/// envelope, looks them up, and passes those that it found.
pub trait KeyRing {
    /// The private key of this name: in v1 the Ed25519 public key in base58, whose X25519 key this is
    /// ([`AgreementPrivate::of_ed25519`]); in v2 the DID URL of the key.
    fn held(&self, kid: &str) -> Option<&AgreementPrivate>;
}

impl KeyRing for BTreeMap<String, AgreementPrivate> {
    fn held(&self, kid: &str) -> Option<&AgreementPrivate> {
        self.get(kid)
    }
}

/// One key with its name.
#[derive(Debug)]
pub struct OneKey<'a> {
    /// The key's name.
    pub kid: &'a str,
    /// The key.
    pub key: &'a AgreementPrivate,
}

impl KeyRing for OneKey<'_> {
    fn held(&self, kid: &str) -> Option<&AgreementPrivate> {
        (kid == self.kid).then_some(self.key)
    }
}
