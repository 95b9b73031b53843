//! The parts of an instance as its configuration asks for them: its registry and its wallet.

use std::sync::Arc;

use selfsame_attester::{Attester, AttesterKey};
use selfsame_core::Shared;
use selfsame_core::certificate::Section;
use selfsame_core::config::SharedConfig;
use selfsame_credential::Signer;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_ledger::config::{RegistryConfig, RegistryWitness};
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_ledger::remote::Remote;
use selfsame_ledger::{Registry, remote};
use selfsame_openid::config::{RoleSet, RolesConfig};
use selfsame_openid::{OrganisationRoles, Roles};
use selfsame_operators::{Operators, OperatorsParts};
use selfsame_store::TenantId;
use selfsame_wallet::{OwnParties, Wallet, WalletParts, WalletWire};
use selfsame_wire::Wires;

use super::Parts;
use super::judging::ProofJudge;
use crate::config::Config;

/// The parts that an instance has once and shares with its registry.
pub(super) struct OwnParts {
    pub keys: Keys,
    pub clock: Clock,
}

impl OwnParts {
    pub fn new(parts: &Parts) -> Self {
        Self {
            keys: Keys::new(parts.store.clone()).with_hsm(parts.hsm.clone()),
            clock: Clock::default(),
        }
    }
}

/// The registry that the configuration names, if it names one.
pub(super) async fn registry(
    config: &Config,
    parts: &Parts,
    own: &OwnParts,
) -> Result<Option<Arc<dyn Registry>>> {
    Ok(match (&config.registry, &parts.ledger) {
        (RegistryConfig::Embedded { name, witnesses }, Some(ledger)) => {
            let (store, keys, clock) = (parts.store.clone(), own.keys.clone(), own.clock.clone());
            let mut setup = Setup::new(name, ledger.clone(), store, keys, clock);
            RegistryWitness::check(witnesses, |url| config.trust.may_call(url))?;
            if !witnesses.is_empty() {
                setup.witnesses = Some((parts.net.clone(), witnesses.clone()));
            }
            Some(Arc::new(Embedded::open(setup).await?))
        }
        (RegistryConfig::Embedded { .. }, None) => {
            return Err(Error::internal("an embedded registry has no ledger"));
        }
        (RegistryConfig::Remote { nodes, .. }, _) if nodes.is_empty() => {
            return Err(Error::bad_request("registry-nodes-missing"));
        }
        (
            RegistryConfig::Remote {
                nodes,
                pin,
                standstill,
                witnesses,
            },
            _,
        ) => Some(Arc::new(Remote::new(remote::RemoteSetup {
            net: parts.net.clone(),
            clock: own.clock.clone(),
            store: parts.store.clone(),
            nodes: nodes.clone(),
            pin: pin.clone(),
            standstill: *standstill,
            witnesses: witnesses.clone(),
        }))),
        (RegistryConfig::None, _) => None,
    })
}

/// The roles of its organisations, as far as the configuration gives it them.
pub(super) async fn roles(config: &Config, shared: &Arc<Shared>) -> Result<Arc<Roles>> {
    let settings = RolesConfig {
        issuer: config.issuer.clone(),
        verifier: config.verifier.clone(),
    };
    certify_attester(config, shared).await?;
    let wanted = RoleSet {
        issuer: config.roles.issuer,
        verifier: config.roles.verifier,
    };
    let roles = Arc::new(Roles::open(shared, wanted, settings).await?);
    roles.judge_applications(Box::new(ProofJudge::new(shared.clone(), &roles)));
    Ok(roles)
}

/// Has the attester of the wallet sign with the certificate of the settings, if there is one. Moves its key into the key
/// store, sealed.
async fn certify_attester(config: &Config, shared: &Arc<Shared>) -> Result<()> {
    let (store, keys) = (shared.store.clone(), shared.keys.clone());
    let attester = Attester::new(store, keys, shared.clock.clone(), &shared.config.origin);
    let section = Section {
        name: "wallet",
        chain: config.wallet.certificate.as_deref(),
        key: config.wallet.certificate_key.as_ref(),
        hsm_key: None,
    };
    let certified = match section.read()? {
        None => None,
        Some(pair) => {
            let name = config.origin.to_string();
            let kept = pair.keep(&shared.keys, &TenantId::instance(), name).await?;
            let Signer { key, x5c, .. } = kept.signer;
            Some(AttesterKey { key, x5c })
        }
    };
    attester.certify(certified).await
}

/// The wallet, if the instance keeps people's credentials.
pub(super) fn wallet(
    config: &Config,
    shared: &Arc<Shared>,
    wires: &Wires,
    roles: &Roles,
) -> Option<Arc<Wallet>> {
    let OrganisationRoles {
        organisation,
        issuer,
        verifier,
        ..
    } = &*roles.main;
    let wallet = || {
        Wallet::new(WalletParts {
            shared: shared.clone(),
            config: config.wallet.clone(),
            own: OwnParties {
                issuers: issuer.as_ref().map_or_else(Vec::new, |own| own.names()),
                verifier: verifier.as_ref().map(|own| own.client_id()),
            },
            types: roles.types().clone(),
            organisation: organisation.clone(),
            wire: WalletWire::new(wires.clone(), organisation.issuer.clone()),
        })
    };
    config.roles.wallet.then(wallet).map(Arc::new)
}

/// The people and the programs that work for the organisations of an instance.
pub(super) fn operators(shared: &Shared) -> Operators {
    Operators::new(OperatorsParts {
        store: shared.store.clone(),
        clock: shared.clock.clone(),
        work: shared.work.clone(),
        origin: shared.config.origin.clone(),
    })
}

/// The settings that all parts share.
pub(super) fn shared_config(config: &Config) -> SharedConfig {
    SharedConfig {
        origin: config.origin.clone(),
        trust: config.trust.clone(),
        resolver: config.resolver.clone(),
        organisations: config.organisations,
    }
}
