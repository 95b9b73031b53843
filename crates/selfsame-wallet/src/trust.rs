//! Whom a wallet shows as trusted, and which addresses it calls.

use crate::Wallet;

/// The names of the issuer and the verifier of a wallet's own instance, which it trusts without a setting.
#[derive(Clone, Debug, Default)]
pub struct OwnParties {
    /// The names under which the issuer issues; none without an issuer.
    pub issuers: Vec<String>,
    /// The client identifier of the verifier, if there is one.
    pub verifier: Option<String>,
}

impl Wallet {
    /// Whether this issuer is shown as trusted.
    pub(crate) fn trusts_issuer(&self, issuer: &str) -> bool {
        let trusted = self.shared.trust.now();
        let mut all = trusted.issuers.iter().chain(&self.own.issuers);
        all.any(|trusted| trusted == issuer)
    }

    /// Whether this verifier is shown as trusted.
    pub(crate) fn trusts_verifier(&self, client_id: &str) -> bool {
        let trusted = self.shared.trust.now();
        let mut all = trusted.verifiers.iter().chain(&self.own.verifier);
        all.any(|trusted| trusted == client_id)
    }
}
