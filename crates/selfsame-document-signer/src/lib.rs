//! Owns: the authority (IACA) and the document signer of an organisation: made at their first use, kept, renewed.
//! Does not own: the profiles of certificates (selfsame-mdoc), the key store (selfsame-driver), and what is signed.

mod made;
mod record;

pub use record::KIND;

use std::sync::{Arc, PoisonError, RwLock};

use selfsame_credential::Signer;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use made::{MadeCertificate, Making};
use record::{KEPT, KeptSigner};

/// A signer's certificate lives 450 days: a week less than it may (ISO/IEC 18013-5 §B.1.4).
const SIGNER_SECONDS: u64 = 450 * 86_400;
/// An authority's certificate lives ten years.
const AUTHORITY_SECONDS: u64 = 3_652 * 86_400;
/// Seconds by which the clocks of others may be behind.
const EARLY: u64 = 3_600;
/// How often a change by another process is met before the call fails.
const ATTEMPTS: usize = 5;

/// What certificates say about an organisation.
#[derive(Clone, Copy, Debug)]
pub struct SignerFacts<'a> {
    /// Its country (ISO 3166-1 alpha-2).
    pub country: &'a str,
    /// Its name for people.
    pub title: &'a str,
    /// Its address.
    pub contact: &'a str,
}

/// A document signer, and until when its certificate is valid.
#[derive(Clone, Debug)]
pub struct CertifiedSigner {
    /// The key with its certificate.
    pub signer: Signer,
    /// The end of the certificate's validity.
    pub not_after: UnixTime,
}

/// The authority and the document signer of one organisation.
pub struct DocumentSigners {
    store: Store,
    keys: Keys,
    clock: Clock,
    tenant: TenantId,
    held: RwLock<Arc<SignerInUse>>,
}

/// What was read last, with its version; nothing before the first use.
#[derive(Default)]
struct SignerInUse {
    version: Option<u64>,
    kept: Option<KeptSigner>,
}

impl DocumentSigners {
    /// Those of the organisation whose issuer has this tenant.
    #[must_use]
    pub fn new(store: Store, keys: Keys, clock: Clock, tenant: TenantId) -> Self {
        Self {
            store,
            keys,
            clock,
            tenant,
            held: RwLock::default(),
        }
    }

    /// The signer of documents that are valid until `until`, or as long as a certificate lives. It is made now if there is
    /// none, or if the one that there is would end before.
    ///
    /// # Errors
    /// `BadRequest` for facts that no certificate can state; the store's.
    pub async fn signer(
        &self,
        facts: &SignerFacts<'_>,
        until: UnixTime,
    ) -> Result<CertifiedSigner> {
        for _ in 0..ATTEMPTS {
            let held = self.now().await?;
            let longest = self.clock.now().plus(SIGNER_SECONDS - EARLY);
            let needed = until.min(longest);
            if let Some(kept) = &held.kept
                && kept.signer.not_after >= needed
                && kept.country == facts.country
            {
                return Ok(kept.certified());
            }
            if let Some(kept) = self.renewed(&held, facts).await? {
                // What was committed is held from now on, with its version.
                self.now().await?;
                return Ok(kept.certified());
            }
        }
        Err(Error::internal(
            "other processes keep changing a document signer",
        ))
    }

    /// The certificate (DER) of the authority as it is now; `None` before its first use.
    ///
    /// # Errors
    /// The store's.
    pub async fn authority(&self) -> Result<Option<Vec<u8>>> {
        self.now().await?;
        Ok(self.latest_authority())
    }

    /// The same as it was read last. A verification that uses it must first call [`Self::authority`].
    #[must_use]
    pub fn latest_authority(&self) -> Option<Vec<u8>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.kept
            .as_ref()
            .map(|kept| kept.authority.certificate.clone())
    }

    async fn now(&self) -> Result<Arc<SignerInUse>> {
        let version = self.store.version(&self.tenant, KIND, KEPT).await?;
        let latest = self
            .held
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if latest.version == version {
            return Ok(latest);
        }
        let held = match self.store.read(&self.tenant, KIND, KEPT).await? {
            Some(record) => SignerInUse {
                version: Some(record.version),
                kept: Some(decode(&record.value)?),
            },
            None => SignerInUse::default(),
        };
        Ok(self.hold(held))
    }

    fn hold(&self, held: SignerInUse) -> Arc<SignerInUse> {
        let held = Arc::new(held);
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = held.clone();
        held
    }

    /// Makes a signer, and the authority if there is none or the country is another one; `None` if another process was
    /// faster.
    async fn renewed(
        &self,
        held: &SignerInUse,
        facts: &SignerFacts<'_>,
    ) -> Result<Option<KeptSigner>> {
        let expected = held.version.map_or(Expect::Absent, Expect::Version);
        let batch = Batch::new(self.tenant.clone()).expect(KIND, KEPT, expected);
        let making = Making {
            keys: &self.keys,
            tenant: &self.tenant,
            ctx: &self.clock.ctx(),
            facts,
        };
        let known = held
            .kept
            .as_ref()
            .filter(|kept| kept.country == facts.country);
        let now = self.clock.now();
        let lasts = |kept: &&KeptSigner| kept.authority.not_after > now.plus(SIGNER_SECONDS);
        let (authority, batch) = match known.filter(lasts) {
            Some(kept) => (kept.authority.clone(), batch),
            None => making.authority(AUTHORITY_SECONDS, batch).await?,
        };
        let (signer, batch) = making.signer(&authority, SIGNER_SECONDS, batch).await?;
        let kept = KeptSigner {
            country: facts.country.to_owned(),
            authority,
            signer,
        };
        let batch = batch.put(Put::new(KIND, KEPT, encode(&kept)?));
        match self.store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => return Ok(None),
            Err(other) => return Err(other.into()),
        }
        tracing::info!(country = facts.country, "a document signer was certified");
        Ok(Some(kept))
    }
}

impl KeptSigner {
    fn certified(&self) -> CertifiedSigner {
        let MadeCertificate {
            certificate,
            key,
            not_after,
        } = &self.signer;
        CertifiedSigner {
            signer: made::signer(key, certificate),
            not_after: *not_after,
        }
    }
}

#[cfg(test)]
mod tests;
