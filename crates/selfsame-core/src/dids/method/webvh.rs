//! DIDs of the method `webvh`, whose logs are hosted here, each beside the document of the did:web with the same place.

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::Did;
use selfsame_did::method::webvh::parallel_web;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, Record};
use selfsame_webvh::HostedLog;

use super::web;
use crate::dids::record::{DID, DidRecord, did_id, put};
use crate::dids::{Dids, OwnDid};
use crate::view::NewDid;

/// The kind of the records of logs. Their id is that of the did:web with the same place.
const LOG: &str = "did_log";

impl Dids {
    /// Creates a DID with its log.
    pub(super) async fn create_webvh(&self, new: &NewDid) -> Result<DidRecord> {
        let method = selfsame_did::web::METHOD.name.to_owned();
        let kind = new.kind.clone();
        let (web, batch) = self.begun(&NewDid { method, kind }).await?;
        let keys = &self.shared.keys;
        let (next, _, batch) = keys.create(&self.tenant, KeyType::Ed25519, batch)?;
        // It signs the first entry and nothing else, so it is not kept.
        let first = PrivateKey::generate(KeyType::Ed25519).map_err(Error::internal)?;
        let (document, now) = (web.hosted()?, self.shared.clock.now());
        let log = HostedLog::begin(&document, &first, next.public(), now);
        let log = log.map_err(Error::internal)?;
        let batch = batch.put(Put::new(LOG, did_id(&web.did), encode(&log)?));
        let record = DidRecord {
            did: log.did,
            ..web
        };
        let batch = batch.expect(DID, &did_id(&record.did), Expect::Absent);
        self.shared.store.commit(put(batch, &record)?).await?;
        Ok(record)
    }

    /// Adds an entry to the log of a DID: a new key of its document, or its end.
    pub(super) async fn change_webvh(
        &self,
        batch: Batch,
        before: &OwnDid,
        after: DidRecord,
    ) -> Result<DidRecord> {
        let web = parallel_web(&after.did).map_err(Error::internal)?;
        let (stored, log) = self.log_of(&web).await?;
        let (keys, now) = (&self.shared.keys, self.shared.clock.now());
        let (key, next, batch) = keys.create(&self.tenant, KeyType::Ed25519, batch)?;
        let signer = keys.public(&self.tenant, &log.next).await?;
        let committed = (!after.deactivated).then(|| key.public());
        let entry = log.entry(&after.hosted()?, &signer, committed, now);
        let entry = entry.map_err(Error::internal)?;
        let signature = keys.sign(&self.tenant, &log.next, entry.bytes()).await?;
        let log = log.with(entry, &signature, next);
        let batch = batch.update(LOG, &stored, encode(&log)?);
        let batch = batch.update(DID, &before.stored, encode(&after)?);
        self.shared.store.commit(batch).await?;
        self.shared.resolver.forget(&after.did);
        self.shared.resolver.forget(&web);
        Ok(after)
    }

    /// The log hosted below the origin at `path`, which is [`super::HOSTED`], a slash and a name.
    ///
    /// # Errors
    /// `NotFound` if there is no log.
    pub async fn log(&self, path: &str) -> Result<String> {
        let web = web::did(&self.shared, path).map_err(|_| web::absent())?;
        Ok(self.log_of(&web).await?.1.text)
    }

    /// The log beside a did:web.
    pub(super) async fn log_of(&self, web: &Did) -> Result<(Record, HostedLog)> {
        let store = &self.shared.store;
        let stored = store.read(&self.tenant, LOG, &did_id(web)).await?;
        let stored = stored.ok_or_else(web::absent)?;
        let log = decode(&stored.value)?;
        Ok((stored, log))
    }
}
