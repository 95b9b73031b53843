//! The instance's own DIDs: the operator creates, rotates and deactivates them. They are anchored or hosted if their
//! method requires it.

mod acting;
mod cheqd;
pub mod newcomer;
mod record;
mod registration;

use std::sync::Arc;

use selfsame_crypto::{KeyHandle, KeyType, PublicKey};
use selfsame_did::{Did, Options, Representation, ResolutionError, selfsame};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_ledger::is_refusal;
use selfsame_registry::{Content, Identifier, Operation};
use selfsame_store::{Batch, Expect, TenantId};
use serde_json::Value;

use crate::config::DidMethod;
use crate::identity::{Identity, KEY_FRAGMENT, kid_of};
use crate::shared::{Shared, below};
use crate::view::instance::{InstanceDid, NewDid};
use record::DidRecord;
use registration::{Author, DID, Intent, did_id, put, registration_id};

pub(crate) use cheqd::Changing;
pub(crate) use registration::Registering;

/// The path below the origin where `did:web` documents are hosted.
pub const HOSTED: &str = "dids";
/// The nonce of a DID's creation: the same creation is the same transaction, however often it is sent.
const CREATION_NONCE: u64 = 0;

/// The operator's actions on the instance's DIDs.
#[derive(Clone)]
pub struct Dids {
    shared: Arc<Shared>,
    tenant: TenantId,
}

/// A DID's record as read.
struct Own {
    stored: selfsame_store::Record,
    record: DidRecord,
}

/// A change of a DID. The operation is for the registry, where a `did:selfsame` is changed.
struct Change<'a> {
    batch: Batch,
    before: &'a Own,
    after: DidRecord,
    operation: Operation,
}

impl Dids {
    /// The DIDs of this instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            tenant: TenantId::instance(),
        }
    }

    /// Creates a DID. A DID of the registry is anchored there before this returns.
    ///
    /// # Errors
    /// `BadRequest` for an unsupported method or kind of key; the registry's and the store's errors.
    pub async fn create(&self, new: &NewDid) -> Result<InstanceDid> {
        if new.method == cheqd::METHOD {
            return self.create_cheqd(new).await;
        }
        let method = method(&new.method)?;
        let kind = key_type(new.kind.as_deref().unwrap_or("P-256"))?;
        let (key, _, batch) =
            self.shared
                .keys
                .create(&self.tenant, kind, Batch::new(self.tenant.clone()))?;
        let name =
            selfsame_crypto::encoding::hex_encode(&self.shared.clock.ctx().random::<8>("did"));
        let did = self
            .shared
            .new_did(method, key.public(), &format!("{HOSTED}/{name}"))
            .await?;
        let mut record = DidRecord::new(did, key.public());
        let batch = batch.expect(DID, &did_id(&record.did), Expect::Absent);
        if method != DidMethod::Selfsame {
            self.shared.store.commit(put(batch, &record)?).await?;
            return self.shown(&record).await;
        }
        let operation = Operation::CreateDid(record.content()?);
        let transaction = self
            .shared
            .transaction(&self.author(&record)?, CREATION_NONCE, operation)
            .await?;
        let then = DidRecord {
            version: 1,
            ..record.clone()
        };
        record.pending = Some(registration_id(&transaction));
        let (tenant, did) = (&self.tenant, &record.did);
        let intent = Intent {
            tenant,
            did,
            transaction: &transaction,
            then: Some(then.clone()),
        };
        self.shared.register(put(batch, &record)?, intent).await?;
        self.shown(&then).await
    }

    /// The instance's DIDs, newest first.
    ///
    /// # Errors
    /// The store's errors.
    pub async fn list(&self, paging: &Paging) -> Result<Listing<InstanceDid>> {
        let store = &self.shared.store;
        let stored = store.list(&self.tenant, DID, &page(paging)).await?;
        let records = listing(&stored, paging, |stored| decode::<DidRecord>(&stored.value))?;
        let mut items = Vec::with_capacity(records.items.len());
        for record in &records.items {
            items.push(self.shown(record).await?);
        }
        Ok(Listing {
            items,
            next: records.next,
        })
    }

    /// One of the instance's DIDs.
    ///
    /// # Errors
    /// `NotFound` if the DID is not this instance's, and the store's errors.
    pub async fn show(&self, did: &Did) -> Result<InstanceDid> {
        let own = self.own(did).await?.ok_or_else(unknown)?;
        self.shown(&own.record).await
    }

    /// Gives a DID a new key. The former keys stay in the document to verify what they signed.
    ///
    /// # Errors
    /// `BadRequest` for a method without changes, `Gone` for a deactivated DID; the registry's and the store's errors.
    pub async fn rotate(&self, did: &str) -> Result<InstanceDid> {
        let own = self.changeable(did).await?;
        let kind = own.record.key_type()?;
        let (key, _, batch) =
            self.shared
                .keys
                .create(&self.tenant, kind, Batch::new(self.tenant.clone()))?;
        let after = own.record.rotated(key.public());
        let version = after.version.saturating_add(1);
        let operation = Operation::UpdateDid {
            version,
            content: after.content()?,
        };
        self.change(Change {
            batch,
            before: &own,
            after,
            operation,
        })
        .await
    }

    /// Deactivates a DID for good.
    ///
    /// # Errors
    /// `BadRequest` for a method without an end, `Gone` for a deactivated DID; the registry's and the store's errors.
    pub async fn deactivate(&self, did: &str) -> Result<InstanceDid> {
        let own = self.changeable(did).await?;
        let after = DidRecord {
            deactivated: true,
            ..own.record.clone()
        };
        let operation = Operation::DeactivateDid {
            version: after.version.saturating_add(1),
        };
        let batch = Batch::new(self.tenant.clone());
        self.change(Change {
            batch,
            before: &own,
            after,
            operation,
        })
        .await
    }

    /// The current key of a DID of this instance: its handle and its DID URL.
    ///
    /// # Errors
    /// `NotFound` if the DID is not this instance's, and the store's errors.
    pub(crate) async fn current(&self, did: &Did) -> Result<(KeyHandle, String)> {
        let own = self.own(did).await?.ok_or_else(unknown)?;
        let key = own.record.current()?;
        let kid = match did.method() {
            "key" | "jwk" => kid_of(did),
            _ => format!("{did}#{}", key.fragment),
        };
        Ok((key.handle.clone(), kid))
    }

    /// The document hosted below the origin at `path`, which is [`HOSTED`], a slash and a name.
    ///
    /// # Errors
    /// `NotFound` if there is no DID, `Gone` once it is deactivated.
    pub async fn document(&self, path: &str) -> Result<Value> {
        let unknown = || Error::not_found("there is no DID at this address");
        let did = web_did(&self.shared, path).map_err(|_| unknown())?;
        let own = self.own(&did).await?.ok_or_else(unknown)?;
        if own.record.deactivated {
            return Err(ended());
        }
        Ok(own.record.document()?.to_value(Representation::Did))
    }

    /// Registers an identity's `did:selfsame` with its one key, unless the registry resolves it. If the registry can't
    /// be reached, the outbox sends the registration again.
    ///
    /// # Errors
    /// The registry's refusal, and the store's errors.
    pub async fn ensure_registered(&self, identity: &Identity) -> Result<()> {
        if identity.did().method() != "selfsame" {
            return Ok(());
        }
        let resolution = self
            .shared
            .own_registry()?
            .resolve(identity.did(), &Options::default())
            .await;
        match resolution.metadata.error {
            None => return Ok(()),
            Some(ResolutionError::NotFound | ResolutionError::InternalError) => {}
            Some(error) => return Err(Error::bad_request(format!("{}: {error}", identity.did()))),
        }
        let of_key = Identifier::of_key(identity.public()).map(|id| id.to_string());
        let of_did = selfsame::parts(identity.did()).map(|(_, id)| id);
        if of_key != of_did {
            return Err(Error::bad_request(format!(
                "{} is not registered and does not belong to this instance's key",
                identity.did()
            ))
            .with_hint("register it, or leave it out of the settings to have one made"));
        }
        let content = Content::of_key(KEY_FRAGMENT, identity.public().clone());
        let author = author_of(identity);
        let transaction = self
            .shared
            .transaction(&author, CREATION_NONCE, Operation::CreateDid(content))
            .await?;
        let (tenant, did) = (identity.tenant(), identity.did());
        let intent = Intent {
            tenant,
            did,
            transaction: &transaction,
            then: None,
        };
        match self
            .shared
            .register(Batch::new(tenant.clone()), intent)
            .await
        {
            Ok(receipt) => {
                tracing::info!(did = %did, seq_no = receipt.seq_no, "registered");
                Ok(())
            }
            Err(error) if is_refusal(&error) => Err(error),
            Err(error) => {
                tracing::warn!(did = %did, %error, "the registry did not accept the registration; it will be sent again, which has no effect if this DID is registered already");
                Ok(())
            }
        }
    }

    /// Anchors the present state of a status list, together with `batch`.
    ///
    /// # Errors
    /// `BadRequest` if the identity's DID is not the registry's, and the store's errors; the registry's, after which
    /// the outbox anchors it later.
    pub(crate) async fn anchor(
        &self,
        identity: &Identity,
        list: &str,
        digest: [u8; 32],
        batch: Batch,
    ) -> Result<()> {
        let operation = Operation::AnchorStatus {
            list: list.to_owned(),
            digest,
            issued: self.shared.clock.now(),
        };
        self.write_as(identity, operation, batch).await.map(drop)
    }

    /// Writes a change, either at once or through the registry or a registrar.
    async fn change(&self, change: Change<'_>) -> Result<InstanceDid> {
        let Change {
            batch,
            before,
            after,
            operation,
        } = change;
        if after.did.method() == cheqd::METHOD {
            let then = self.change_cheqd(batch, before, after).await?;
            return self.shown(&then).await;
        }
        if after.did.method() != "selfsame" {
            let batch = batch.update(DID, &before.stored, encode(&after)?);
            self.shared.store.commit(batch).await?;
            self.shared.resolver.forget(&after.did);
            return self.shown(&after).await;
        }
        let version = after.version.saturating_add(1);
        // With a new nonce, a change that failed does not block another one of the same version.
        let transaction = self
            .shared
            .transaction(&self.author(&before.record)?, self.nonce(), operation)
            .await?;
        let waiting = DidRecord {
            pending: Some(registration_id(&transaction)),
            ..before.record.clone()
        };
        let then = DidRecord { version, ..after };
        let batch = batch.update(DID, &before.stored, encode(&waiting)?);
        let (tenant, did) = (&self.tenant, &before.record.did);
        let intent = Intent {
            tenant,
            did,
            transaction: &transaction,
            then: Some(then.clone()),
        };
        self.shared.register(batch, intent).await?;
        self.shown(&then).await
    }

    /// The record of a DID that may be changed now. A pending change is finished first.
    async fn changeable(&self, did: &str) -> Result<Own> {
        let did = Did::parse(did).map_err(|_| Error::bad_request("this is not a DID"))?;
        let mut own = self.own(&did).await?.ok_or_else(unknown)?;
        if !matches!(did.method(), "web" | "selfsame" | cheqd::METHOD) {
            return Err(Error::bad_request(format!(
                "a did:{} consists of its key; it can't be changed",
                did.method()
            ))
            .with_hint("make another DID; did:web, did:selfsame and did:cheqd can be changed"));
        }
        if let Some(registration) = &own.record.pending {
            match did.method() {
                cheqd::METHOD => self.shared.resume_cheqd(&self.tenant, registration).await?,
                _ => self.shared.resume(&self.tenant, registration).await?,
            }
            own = self.own(&did).await?.ok_or_else(unknown)?;
        }
        if own.record.deactivated {
            Err(ended())
        } else {
            Ok(own)
        }
    }

    async fn own(&self, did: &Did) -> Result<Option<Own>> {
        let Some(stored) = self
            .shared
            .store
            .read(&self.tenant, DID, &did_id(did))
            .await?
        else {
            return Ok(None);
        };
        let record = decode(&stored.value)?;
        Ok(Some(Own { stored, record }))
    }

    async fn shown(&self, record: &DidRecord) -> Result<InstanceDid> {
        let document = match record.did.method() {
            "web" | cheqd::METHOD if record.deactivated => Value::Null,
            // The instance wrote this document itself, so it needs no other party's answer.
            cheqd::METHOD => {
                let draft = record.draft()?;
                draft.document().to_value(Representation::Did)
            }
            "web" => record.document()?.to_value(Representation::Did),
            _ => {
                let now = self.shared.clock.now();
                let (resolution, _) = self
                    .shared
                    .resolver
                    .resolve(&record.did, &Options::default(), now)
                    .await;
                let document = resolution.document.as_ref();
                document.map_or(Value::Null, |document| {
                    document.to_value(Representation::Did)
                })
            }
        };
        Ok(InstanceDid {
            did: record.did.to_string(),
            key: record.current()?.handle.as_str().to_owned(),
            state: record.state().to_owned(),
            document,
        })
    }

    fn author<'a>(&'a self, record: &'a DidRecord) -> Result<Author<'a>> {
        let current = record.current()?;
        Ok(Author {
            tenant: &self.tenant,
            did: &record.did,
            key: &current.handle,
            fragment: &current.fragment,
        })
    }
}

fn unknown() -> Error {
    Error::not_found("this DID was not made by this instance").with_hint(
        "`selfsame did show` lists the DIDs made here; the DID of an issuer or verifier keeps its one key",
    )
}

impl Shared {
    /// The DID that begins with this key. It is neither registered nor hosted yet.
    ///
    /// # Errors
    /// `BadRequest` if the origin forms no `did:web` or there is no registry, and the registry's errors.
    pub async fn new_did(
        &self,
        method: DidMethod,
        public: &PublicKey,
        web_path: &str,
    ) -> Result<Did> {
        match method {
            DidMethod::Key => Ok(selfsame_did::key::create(public)),
            DidMethod::Jwk => Ok(selfsame_did::jwk::create(public)),
            DidMethod::Web => web_did(self, web_path),
            DidMethod::Selfsame => Ok(selfsame::create(
                &self.own_registry()?.network().await?,
                public,
            )),
        }
    }
}

fn web_did(shared: &Shared, path: &str) -> Result<Did> {
    selfsame_did::web::did_for(&below(&shared.config.origin, path)?).map_err(|error| {
        Error::bad_request(format!("this origin does not form a did:web: {error}"))
            .with_hint("start it with a domain name as its origin; on loopback, use localhost")
    })
}

fn author_of(identity: &Identity) -> Author<'_> {
    let fragment = identity
        .kid()
        .rsplit_once('#')
        .map_or(KEY_FRAGMENT, |(_, fragment)| fragment);
    Author {
        tenant: identity.tenant(),
        did: identity.did(),
        key: identity.key(),
        fragment,
    }
}

fn method(name: &str) -> Result<DidMethod> {
    match name {
        "key" => Ok(DidMethod::Key),
        "jwk" => Ok(DidMethod::Jwk),
        "web" => Ok(DidMethod::Web),
        "selfsame" => Ok(DidMethod::Selfsame),
        _ => Err(Error::bad_request("this DID method is not supported")
            .with_hint("one of: key, jwk, web, selfsame, cheqd")),
    }
}

fn key_type(name: &str) -> Result<KeyType> {
    match name {
        "P-256" => Ok(KeyType::P256),
        "Ed25519" => Ok(KeyType::Ed25519),
        _ => Err(Error::bad_request("this kind of key is not supported")
            .with_hint("one of: P-256, Ed25519")),
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::Gone, "this DID has been deactivated")
}
