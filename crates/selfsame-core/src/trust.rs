//! The parties this instance trusts now: from `[trust]`, and from changes made while it runs.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use selfsame_driver::Result;

use crate::certificate;
use crate::config::TrustConfig;

/// The parties an instance trusts. Each use takes the settings in force when it begins, and keeps them to its end.
pub struct Trust(RwLock<Arc<Trusted>>);

/// The trust settings in force.
#[derive(Default)]
pub struct Trusted {
    /// Issuers whose credentials are accepted.
    pub issuers: Vec<String>,
    /// The types that an issuer may issue, if it is listed.
    pub types: BTreeMap<String, Vec<String>>,
    /// Verifiers that the wallet shows as trusted: client identifiers.
    pub verifiers: Vec<String>,
    /// Trust anchors for certificate chains, DER.
    pub anchors: Vec<Vec<u8>>,
    /// Authorities whose document signers are trusted (IACA), DER.
    pub authorities: Vec<Vec<u8>>,
}

impl Trust {
    /// The trust settings of this configuration.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work.
    pub fn of(config: &TrustConfig) -> Result<Self> {
        Ok(Self(RwLock::new(Arc::new(Trusted::of(config)?))))
    }

    /// The settings in force now.
    pub fn now(&self) -> Arc<Trusted> {
        let trusted = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&trusted)
    }

    /// Replaces the settings, as a whole or not at all.
    ///
    /// # Errors
    /// Those of [`Trust::of`]; the previous settings then stay in force.
    pub fn renew(&self, config: &TrustConfig) -> Result<()> {
        let next = Arc::new(Trusted::of(config)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }
}

impl Trusted {
    fn of(config: &TrustConfig) -> Result<Self> {
        config.check()?;
        Ok(Self {
            anchors: certificate::anchors(&config.certificates)?,
            authorities: certificate::anchors(&config.authorities)?,
            issuers: config.issuers.clone(),
            types: config.types.clone(),
            verifiers: config.verifiers.clone(),
        })
    }
}
