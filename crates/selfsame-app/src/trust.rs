//! Whom this instance trusts at this moment: what `[trust]` says, and what it is told of it while it runs.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::certificate;
use crate::config::TrustConfig;
use crate::error::Result;

/// Whom an instance trusts. Each use takes what is in force when it begins, and keeps it to its end.
pub struct Trust(RwLock<Arc<Trusted>>);

/// What is in force.
#[derive(Default)]
pub struct Trusted {
    /// Issuers whose credentials count.
    pub issuers: Vec<String>,
    /// The types that an issuer may issue, where it is named.
    pub types: BTreeMap<String, Vec<String>>,
    /// Verifiers that the wallet calls trusted: client identifiers.
    pub verifiers: Vec<String>,
    /// Certificates that anchor chains, DER.
    pub anchors: Vec<Vec<u8>>,
}

impl Trust {
    /// What the settings say.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work.
    pub(crate) fn of(config: &TrustConfig) -> Result<Self> {
        Ok(Self(RwLock::new(Arc::new(Trusted::of(config)?))))
    }

    /// What is in force now.
    pub fn now(&self) -> Arc<Trusted> {
        let trusted = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&trusted)
    }

    /// Puts this in its place, whole or not at all.
    ///
    /// # Errors
    /// As [`Trust::of`]; what was in force stays so.
    pub(crate) fn renew(&self, config: &TrustConfig) -> Result<()> {
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
            issuers: config.issuers.clone(),
            types: config.types.clone(),
            verifiers: config.verifiers.clone(),
        })
    }
}
