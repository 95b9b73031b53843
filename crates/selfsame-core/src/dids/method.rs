//! The table of DID methods by which the instance makes and changes DIDs of its own. To add a method whose DIDs are
//! more than a key, add a file or folder here and its line in [`TABLE`].

mod cheqd;
mod selfsame;
mod web;
mod webvh;

use selfsame_crypto::PublicKey;
use selfsame_crypto::encoding::hex_encode;
use selfsame_did::method::{METHODS, Method, OfKey};
use selfsame_did::{Did, Options, Representation};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect};
use serde_json::Value;

use super::record::{DID, DidRecord, did_id, put};
use super::{Dids, OwnDid, key_type};
use crate::shared::{Shared, below};
use crate::view::NewDid;

pub use cheqd::Changing;
pub use selfsame::registration::{ACCEPTANCE, Author, Registering};
pub use web::HOSTED;

/// How the instance keeps DIDs of a method.
#[derive(Clone, Copy)]
pub(super) enum Keeping {
    /// They consist of their key.
    OfKey(OfKey),
    /// Their documents are hosted here.
    Web,
    /// Their logs are hosted here.
    Webvh,
    /// They are anchored in the registry.
    Selfsame,
    /// A registrar writes them.
    Cheqd,
}

const TABLE: [(Method, Keeping); 4] = [
    (selfsame_did::web::METHOD, Keeping::Web),
    (selfsame_did::method::webvh::METHOD, Keeping::Webvh),
    (selfsame_did::selfsame::METHOD, Keeping::Selfsame),
    (selfsame_did::method::cheqd::METHOD, Keeping::Cheqd),
];

impl Keeping {
    fn of(method: &Method) -> Option<Self> {
        let listed = TABLE.iter().find(|(listed, _)| listed.name == method.name);
        let keeping = listed.map(|(_, keeping)| *keeping);
        keeping.or(method.of_key.map(Self::OfKey))
    }

    /// How DIDs of the method with this name are kept.
    ///
    /// # Errors
    /// `BadRequest` if the instance can't make DIDs of this method.
    pub fn named(method: &str) -> Result<Self> {
        let keeping = METHODS.named(method).and_then(Self::of);
        keeping.ok_or_else(|| {
            let names = METHODS.names(|method| Self::of(method).is_some());
            Error::bad_request("did-method-unsupported").with("known", &names)
        })
    }
}

impl Dids {
    /// Makes a DID with a key of its own.
    pub(super) async fn made(&self, new: &NewDid) -> Result<DidRecord> {
        match Keeping::named(&new.method)? {
            Keeping::OfKey(_) | Keeping::Web => {
                let (record, batch) = self.begun(new).await?;
                self.shared.store.commit(put(batch, &record)?).await?;
                Ok(record)
            }
            Keeping::Webvh => self.create_webvh(new).await,
            Keeping::Selfsame => self.create_selfsame(new).await,
            Keeping::Cheqd => self.create_cheqd(new).await,
        }
    }

    /// Makes a change, and returns the new record.
    pub(super) async fn changed(
        &self,
        batch: Batch,
        before: &OwnDid,
        after: DidRecord,
    ) -> Result<DidRecord> {
        match Keeping::named(after.did.method())? {
            Keeping::OfKey(_) | Keeping::Web => {
                let batch = batch.update(DID, &before.stored, encode(&after)?);
                self.shared.store.commit(batch).await?;
                self.shared.resolver.forget(&after.did);
                Ok(after)
            }
            Keeping::Webvh => self.change_webvh(batch, before, after).await,
            Keeping::Selfsame => self.change_selfsame(batch, before, after).await,
            Keeping::Cheqd => self.change_cheqd(batch, before, after).await,
        }
    }

    /// The present document of a DID; null if the DID is deactivated or does not resolve.
    pub(super) async fn present(&self, record: &DidRecord) -> Result<Value> {
        let document = match Keeping::named(record.did.method())? {
            Keeping::Web | Keeping::Webvh | Keeping::Cheqd if record.deactivated => None,
            Keeping::Web => Some(record.hosted()?),
            Keeping::Webvh => Some(selfsame_webvh::with_web(record.hosted()?)),
            // The instance wrote this document itself, so it needs no other party's answer.
            Keeping::Cheqd => Some(record.draft()?.document().clone()),
            Keeping::OfKey(_) | Keeping::Selfsame => {
                let (options, now) = (Options::default(), self.shared.clock.now());
                let resolver = &self.shared.resolver;
                let (resolution, _) = resolver.resolve(&record.did, &options, now).await;
                resolution.document.clone()
            }
        };
        Ok(document.map_or(Value::Null, |document| {
            document.to_value(Representation::Did)
        }))
    }

    /// A new DID with its first key, neither stored nor registered.
    async fn begun(&self, new: &NewDid) -> Result<(DidRecord, Batch)> {
        let (keys, clock) = (&self.shared.keys, &self.shared.clock);
        let kind = key_type(new.kind.as_deref().unwrap_or("P-256"))?;
        let batch = Batch::new(self.tenant.clone());
        let (key, _, batch) = keys.create(&self.tenant, kind, batch)?;
        let path = format!("{HOSTED}/{}", hex_encode(&clock.ctx().random::<8>("did")));
        let url = below(&self.shared.config.origin, &path)?;
        let did = self.shared.new_did(&new.method, key.public(), url.as_str());
        let record = DidRecord::new(did.await?, key.public());
        let batch = batch.expect(DID, &did_id(&record.did), Expect::Absent);
        Ok((record, batch))
    }
}

impl Shared {
    /// The DID that begins with this key. It is neither registered nor hosted yet.
    ///
    /// # Errors
    /// `BadRequest` if the origin forms no `did:web`, or there is no registry, or the method needs a registrar; and the
    /// registry's errors.
    pub async fn new_did(&self, method: &str, public: &PublicKey, web_url: &str) -> Result<Did> {
        match Keeping::named(method)? {
            Keeping::OfKey(of_key) => Ok((of_key.create)(public)),
            Keeping::Web => web::of_url(web_url),
            Keeping::Selfsame => {
                let network = self.own_registry()?.network().await?;
                Ok(selfsame_did::selfsame::create(&network, public))
            }
            // These are more than one key: `DidMethod` does not have them.
            Keeping::Cheqd | Keeping::Webvh => Err(Error::bad_request("did-of-registrar")),
        }
    }
}
