//! DIDs of the method `selfsame`, which are anchored in the registry.

mod acting;
pub(super) mod registration;

use selfsame_did::{Options, ResolutionError, selfsame};
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_registry::content::{Key, Uses};
use selfsame_registry::{Content, Identifier, Operation};
use selfsame_store::Batch;

use crate::dids::record::{DID, DidRecord, put};
use crate::dids::{Dids, OwnDid};
use crate::identity::{Identity, KEY_FRAGMENT};
use crate::view::NewDid;
use registration::{Author, registration_id};

/// The nonce of a DID's creation: the same creation is the same transaction, however often it is sent.
const CREATION_NONCE: u64 = 0;

impl Dids {
    /// Registers an identity's `did:selfsame` with its one key, unless the registry resolves it. If the registry can't
    /// be reached, the outbox sends the registration again.
    ///
    /// # Errors
    /// The registry's refusal, and the store's errors.
    pub async fn ensure_registered(&self, identity: &Identity) -> Result<()> {
        if !identity.did().origin().is_registry() {
            return Ok(());
        }
        let (tenant, did) = (identity.tenant(), identity.did());
        let registry = self.shared.own_registry()?;
        let resolution = registry.resolve(did, &Options::default()).await;
        match resolution.metadata.error {
            None => return Ok(()),
            Some(ResolutionError::NotFound | ResolutionError::InternalError) => {}
            Some(error) => {
                return Err(Error::bad_request("did-unresolved")
                    .with("did", &did)
                    .with("detail", &error));
            }
        }
        let of_key = Identifier::of_key(identity.public()).map(|id| id.to_string());
        let of_did = selfsame::parts(did).map(|(_, id)| id);
        if of_key != of_did {
            return Err(Error::bad_request("did-unregistered").with("did", &did));
        }
        let content = Content::of_key(KEY_FRAGMENT, identity.public().clone());
        let author = Author::of(identity);
        let operation = Operation::CreateDid(content);
        let transaction = self.shared.signed(&author, CREATION_NONCE, vec![operation]);
        let transaction = transaction.await?;
        let batch = Batch::new(tenant.clone());
        let sent = self.shared.register(&author, batch, &transaction, None);
        match sent.await {
            Ok(receipt) => {
                tracing::info!(did = %did, seq_no = receipt.seq_no, "registered");
                Ok(())
            }
            Err(error) if error.is_refusal() => Err(error),
            Err(error) => {
                tracing::warn!(did = %did, %error, "the registry did not accept the registration; it will be sent again, which has no effect if this DID is registered already");
                Ok(())
            }
        }
    }

    /// Anchors the present state of a status list, together with `batch`. If the registry does not answer, this still
    /// succeeds, and the outbox anchors the list later.
    ///
    /// # Errors
    /// `BadRequest` if the identity's DID is not the registry's, and the store's errors.
    pub async fn anchor(
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
        let (shared, author) = (&self.shared, Author::of(identity));
        let transaction = shared
            .signed(&author, self.nonce(), vec![operation])
            .await?;
        shared.register_in_turn(&author, batch, &transaction).await
    }

    /// Creates a DID. It is anchored in the registry before this returns.
    pub(super) async fn create_selfsame(&self, new: &NewDid) -> Result<DidRecord> {
        let (record, batch) = self.begun(new).await?;
        let operation = Operation::CreateDid(record.content()?);
        let author = self.author(&record)?;
        let transaction = self.shared.signed(&author, CREATION_NONCE, vec![operation]);
        let transaction = transaction.await?;
        let waiting = record.waiting(&registration_id(&transaction));
        let batch = put(batch, &waiting)?;
        let (shared, then) = (&self.shared, record.next());
        let write = shared.register(&author, batch, &transaction, Some(then.clone()));
        write.await.map(|_| then)
    }

    /// Changes a DID in the registry, and returns its new record.
    pub(super) async fn change_selfsame(
        &self,
        batch: Batch,
        before: &OwnDid,
        after: DidRecord,
    ) -> Result<DidRecord> {
        let then = after.next();
        let version = then.version;
        let operation = match then.deactivated {
            true => Operation::DeactivateDid { version },
            false => Operation::UpdateDid {
                version,
                content: then.content()?,
            },
        };
        let author = self.author(&before.record)?;
        // With a new nonce, a change that failed does not block another one of the same version.
        let transaction = self.shared.signed(&author, self.nonce(), vec![operation]);
        let transaction = transaction.await?;
        let waiting = before.record.waiting(&registration_id(&transaction));
        let batch = batch.update(DID, &before.stored, encode(&waiting)?);
        let write = self
            .shared
            .register(&author, batch, &transaction, Some(then.clone()));
        write.await.map(|_| then)
    }

    fn author(&self, record: &DidRecord) -> Result<Author> {
        let current = record.current()?;
        Ok(Author {
            tenant: self.tenant.clone(),
            did: record.did.clone(),
            key: current.handle.clone(),
            fragment: current.fragment.clone(),
        })
    }
}

impl DidRecord {
    /// Its content in the registry. Former keys still verify credentials, and nothing else.
    pub fn content(&self) -> Result<Content> {
        let mut keys = Vec::new();
        for (key, is_current) in self.keys_newest_first() {
            let uses = if is_current {
                Uses::SIGNING
            } else {
                Uses::ASSERTION
            };
            keys.push(Key {
                id: key.fragment.clone(),
                public: key.public()?,
                uses,
            });
        }
        Ok(Content {
            keys,
            ..Content::default()
        })
    }
}
