//! The settings of an instance without a registry.

use selfsame_app::config::{Config, Roles};
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, TrustConfig};
use selfsame_ledger::config::RegistryConfig;
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_wallet::config::WalletConfig;

pub fn config() -> Config {
    Config {
        origin: "https://id.example/".parse().unwrap(),
        roles: Roles {
            registry: false,
            ..Roles::ALL
        },
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::None,
        resolver: ResolverConfig::default(),
        organisations: OrganisationsConfig::default(),
        agents: Vec::new(),
    }
}
