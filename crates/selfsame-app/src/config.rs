//! The configuration of an instance. Parsed by the binary, validated where it is used.

use selfsame_agent::AgentTerms;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, TrustConfig};
use selfsame_endorsement::EndorsementTerms;
use selfsame_ledger::config::RegistryConfig;
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_wallet::config::WalletConfig;
use serde::{Deserialize, Serialize};
use url::Url;

pub use selfsame_webhooks::AgentController;

/// The configuration of one instance.
#[derive(Clone, Debug)]
pub struct Config {
    /// The public base of all its URLs, such as `http://127.0.0.1:7380/`.
    pub origin: Url,
    /// The roles that it has.
    pub roles: Roles,
    /// The issuer's settings.
    pub issuer: IssuerConfig,
    /// The verifier's settings.
    pub verifier: VerifierConfig,
    /// The wallet's settings.
    pub wallet: WalletConfig,
    /// The parties that it trusts.
    pub trust: TrustConfig,
    /// Where its registry is.
    pub registry: RegistryConfig,
    /// The resolvers of DIDs that it can't resolve itself.
    pub resolver: ResolverConfig,
    /// The organisations that it hosts.
    pub organisations: OrganisationsConfig,
    /// Its Aries agents.
    pub agents: Vec<AgentConfig>,
}

/// An Aries agent of an instance.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// The name of the organisation whose agent it is. It is created if it does not exist.
    pub organisation: String,
    /// How the agent presents itself, and how far it goes on by itself.
    pub terms: AgentTerms,
    /// What it does with endorsements by itself.
    pub endorsement: EndorsementTerms,
    /// The controllers that hear of its records.
    pub controllers: Vec<AgentController>,
    /// What the links of its invitations begin with; its endpoint without one.
    pub invite_base_url: Option<Url>,
}

impl Config {
    /// Removes the keys of certificates, which the store has, sealed.
    pub(crate) fn forget_keys(&mut self) {
        self.issuer.certificate_key = None;
        self.verifier.certificate_key = None;
        self.wallet.certificate_key = None;
    }
}

/// The roles of an instance.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Roles {
    /// Issues credentials.
    pub issuer: bool,
    /// Keeps people's credentials.
    pub wallet: bool,
    /// Requests presentations.
    pub verifier: bool,
    /// Runs the registry.
    pub registry: bool,
}

impl Roles {
    /// All roles in one process.
    pub const ALL: Self = Self {
        issuer: true,
        wallet: true,
        verifier: true,
        registry: true,
    };
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::{KeyType, PrivateKey};
    use selfsame_ledger::config::RegistryWitness;
    use selfsame_proof::note::VerifierKey;

    use super::*;

    #[test]
    fn checkpoints_are_shown_over_tls_or_to_who_is_listed() {
        let trust = TrustConfig {
            origins: vec!["http://witness.internal:8080/".parse().unwrap()],
            ..TrustConfig::default()
        };
        let public = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let key = VerifierKey::witness("a", public.public()).unwrap();
        let check = |url: &str| {
            let url = url.parse().unwrap();
            let key = key.clone();
            RegistryWitness::check(&[RegistryWitness { key, url }], |url| trust.may_call(url))
        };
        for url in [
            "https://witness.example/some/prefix",
            "http://127.0.0.1:8080/",
            "http://witness.internal:8080/",
        ] {
            assert!(check(url).is_ok(), "{url}");
        }
        for url in ["http://witness.example/", "https://witness.example/?a=b"] {
            let refused = check(url).unwrap_err();
            assert_eq!(refused.reason.id(), "witness-url", "{url}");
        }
    }
}
