//! The parts of the provider that all organisations of one instance share.

use std::sync::Arc;

use selfsame_attester::{ChallengeAnswer, WalletGate};
use selfsame_core::Shared;
use selfsame_core::organisation::Organisation;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::crowd::Crowd;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use selfsame_oidc::{AcrTable, Preset, ProviderRules};

use crate::caller_limits::CallerLimits;
use crate::clients::{Clients, ReadClients};
use crate::credential_scopes::CredentialScopes;
use crate::identity::{IdentitySystem, WaySettings};
use crate::key_set::KeySets;
use crate::place::ProviderPlace;
use crate::record::SignInRecord;

/// The purpose of the key that authenticates nonces.
const NONCES: &str = "dpop nonces";

/// What a provider is made from.
pub struct SignInParts {
    /// What the roles of its instance share.
    pub shared: Arc<Shared>,
    /// Who knows people.
    pub system: Arc<dyn IdentitySystem>,
    /// The settings of sign-in with a credential from a wallet, if it can be had here.
    pub wallet_settings: Option<Arc<dyn WaySettings>>,
    /// The preset of the rules for clients that have none of their own.
    pub preset: Preset,
    /// The classes of sign-ins.
    pub acr: AcrTable,
    /// The languages of its pages.
    pub locales: Vec<&'static str>,
    /// The calls that one network may make in ten minutes.
    pub calls_each: u64,
    /// Whether a provider's new keys are made in the hardware security module.
    pub keys_in_hsm: bool,
    /// The credentials that people get by signing in.
    pub credentials: CredentialScopes,
    /// What judges wallets that are attested, if any can be.
    pub gate: Option<Arc<WalletGate>>,
}

/// The provider of each organisation of one instance.
pub struct SignInService {
    pub(crate) parts: SignInParts,
    pub(crate) rules: ProviderRules,
    pub(crate) records: RecordCache<SignInRecord>,
    pub(crate) key_sets: KeySets,
    pub(crate) read_clients: ReadClients,
    /// One attempt at a time for each sign-in, so that many at once are no way around the limits.
    pub(crate) attempts: Crowd,
    pub(crate) callers: CallerLimits,
}

/// The provider of one organisation: sign-ins, and what clients call.
#[derive(Clone)]
pub struct SignIns {
    pub(crate) service: Arc<SignInService>,
    pub(crate) place: ProviderPlace,
}

impl SignInService {
    /// The provider made from these parts.
    #[must_use]
    pub fn new(parts: SignInParts) -> Self {
        Self {
            rules: ProviderRules::of(parts.preset),
            callers: CallerLimits::new(parts.calls_each),
            key_sets: KeySets::new(parts.keys_in_hsm),
            parts,
            records: RecordCache::default(),
            read_clients: ReadClients::default(),
            attempts: Crowd::new(1),
        }
    }

    /// The provider of an organisation.
    ///
    /// # Errors
    /// `Internal` for an organisation whose addresses have no base.
    pub fn of(self: &Arc<Self>, organisation: &Organisation) -> Result<SignIns> {
        Ok(SignIns {
            service: self.clone(),
            place: ProviderPlace::of(organisation)?,
        })
    }
}

impl SignIns {
    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &ProviderPlace {
        &self.place
    }

    /// The settings of sign-in with a credential from a wallet.
    ///
    /// # Errors
    /// `NotFound` if this instance verifies no credentials.
    pub fn wallet_settings(&self) -> Result<&dyn WaySettings> {
        let settings = self.service.parts.wallet_settings.as_deref();
        settings.ok_or_else(|| Error::not_found("verifier-absent"))
    }

    /// A challenge for the next proof of possession of an attested key; `None` where attestations do not count.
    #[must_use]
    pub fn challenge(&self) -> Option<ChallengeAnswer> {
        let gate = self.service.parts.gate.as_ref()?;
        gate.challenge(self.place.issuer(), &self.shared().clock.ctx())
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.service.parts.shared
    }

    pub(crate) fn clients(&self) -> Clients<'_> {
        Clients {
            shared: self.shared(),
            tenant: &self.place.tenant,
            read: &self.service.read_clients,
        }
    }

    /// The key that authenticates nonces of DPoP proofs.
    pub(crate) async fn nonce_key(&self) -> Result<SealingKey> {
        self.shared().instance_key(NONCES).await
    }
}
