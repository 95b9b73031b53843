//! A transaction that a wallet looks for, as it was read.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_openid4vc_messages::credential::CredentialRequest;
use selfsame_openid4vc_messages::error::Error as Protocol;
use selfsame_store::{Batch, Expect};

use crate::approvals::Approvals;
use crate::deferral::{DEFERRAL, DeferralRecord, LookOutcome, id_of, unknown};

/// Seconds for which an access token is good beyond one look, once its credentials were delivered.
const TOLD_WITHIN: u64 = 300;

/// A transaction that a wallet looks for.
pub struct SoughtDeferral {
    /// Its record.
    pub record: DeferralRecord,
    /// The request that began it.
    pub request: CredentialRequest,
    /// What the wallet gets.
    pub outcome: LookOutcome,
    id: String,
    version: u64,
}

impl SoughtDeferral {
    /// That the credentials were delivered, in a batch. If the record has changed since it was read, the commit is a
    /// conflict about [`DEFERRAL`].
    ///
    /// # Errors
    /// `Internal` if the record can't be JSON.
    pub fn delivered_in(&self, batch: Batch, now: UnixTime) -> Result<Batch> {
        let mut record = self.record.clone();
        record.deliver(now);
        let batch = batch.expect(DEFERRAL, &self.id, Expect::Version(self.version));
        Ok(batch.put(record.put(&self.id)?))
    }
}

impl SoughtDeferral {
    /// When the access token ends whose credentials are delivered now: the wallet may look once more, and say what became
    /// of them.
    #[must_use]
    pub fn token_end(&self, now: UnixTime) -> UnixTime {
        now.plus(u64::from(self.record.interval).saturating_add(TOLD_WITHIN))
    }
}

impl Approvals<'_> {
    /// The transaction of this name, for a wallet with the access token of this grant. The inner error is what the wallet
    /// is told.
    ///
    /// # Errors
    /// The store's.
    pub async fn sought(
        &self,
        transaction: &str,
        grant: &str,
    ) -> Result<std::result::Result<SoughtDeferral, Protocol>> {
        let id = id_of(transaction);
        let Some(read) = self.store.read(self.tenant, DEFERRAL, &id).await? else {
            return Ok(Err(unknown()));
        };
        let record: DeferralRecord = decode(&read.value)?;
        let outcome = match record.look(grant, self.clock.now()) {
            Ok(outcome) => outcome,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let request = CredentialRequest::parse(record.request.as_bytes());
        Ok(Ok(SoughtDeferral {
            request: request.map_err(Error::damaged)?,
            outcome,
            id,
            version: read.version,
            record,
        }))
    }

    /// The grant whose token began a transaction, if there is one of this name.
    ///
    /// # Errors
    /// The store's.
    pub async fn grant_of(&self, transaction: &str) -> Result<Option<String>> {
        let id = id_of(transaction);
        let read = self.store.read(self.tenant, DEFERRAL, &id).await?;
        let record = read.map(|read| decode::<DeferralRecord>(&read.value));
        Ok(record.transpose()?.map(|record| record.grant))
    }
}
