//! Writes to the registry on behalf of one of this instance's DIDs.

use selfsame_did::Did;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_registry::{Operation, Receipt, Transaction};
use selfsame_store::{Batch, MAX_PAGE, Page};

use super::registration::Author;
use crate::dids::Dids;
use crate::dids::record::{DID, DidRecord};
use crate::identity::Identity;

impl Dids {
    /// A transaction signed by one of this instance's DIDs: the identity's, or one that the operator created.
    ///
    /// # Errors
    /// `NotFound` for a DID that is not this instance's, `BadRequest` for one that is not the registry's.
    pub async fn signed_as(
        &self,
        did: &Did,
        identity: &Identity,
        operation: Operation,
    ) -> Result<Transaction> {
        let nonce = self.nonce();
        if did == identity.did() {
            let author = Author::of(identity);
            return self.shared.signed(&author, nonce, vec![operation]).await;
        }
        let own = self.changeable(did.as_str()).await?;
        let author = self.author(&own.record)?;
        self.shared.signed(&author, nonce, vec![operation]).await
    }

    /// A transaction of several operations, of which the registry accepts all or none, signed by this author.
    ///
    /// # Errors
    /// `BadRequest` for a DID that is not the registry's; the store's.
    pub async fn signed_together(
        &self,
        author: &Author,
        operations: Vec<Operation>,
    ) -> Result<Transaction> {
        self.shared.signed(author, self.nonce(), operations).await
    }

    /// Whether the instance can write to the registry as this DID.
    ///
    /// # Errors
    /// `BadRequest` or `NotFound` if it can't, with what to do; `Gone` once it is deactivated; the store's errors.
    pub async fn may_act_as(&self, did: &Did, identity: &Identity) -> Result<()> {
        if !did.origin().is_registry() {
            return Err(Error::bad_request("did-not-of-registry").with("did", &did));
        }
        if did != identity.did() {
            self.changeable(did.as_str()).await?;
        }
        Ok(())
    }

    /// Writes an operation of an identity together with `batch`, and waits for the receipt.
    ///
    /// # Errors
    /// The registry's refusal, which does not undo `batch`. After any other error the write is stored and sent again.
    pub async fn write_as(
        &self,
        identity: &Identity,
        operation: Operation,
        batch: Batch,
    ) -> Result<Receipt> {
        let (shared, author) = (&self.shared, Author::of(identity));
        let transaction = shared
            .signed(&author, self.nonce(), vec![operation])
            .await?;
        shared.register(&author, batch, &transaction, None).await
    }

    /// The DIDs of this instance by which it can write to the registry, newest first; at most a page of them.
    ///
    /// # Errors
    /// The store's errors.
    pub async fn authors(&self) -> Result<Vec<Author>> {
        let page = Page::newest(MAX_PAGE);
        let stored = self.shared.store.list(&self.tenant, DID, &page).await?;
        let mut authors = Vec::new();
        for stored in stored {
            let record: DidRecord = decode(&stored.value)?;
            if record.did.origin().is_registry() {
                authors.push(self.author(&record)?);
            }
        }
        Ok(authors)
    }

    /// Writes a transaction that was signed as this author, and waits for the receipt.
    ///
    /// # Errors
    /// The registry's refusal. After any other error the write is stored and sent again.
    pub async fn write(&self, author: &Author, transaction: &Transaction) -> Result<Receipt> {
        let batch = Batch::new(author.tenant.clone());
        self.shared.register(author, batch, transaction, None).await
    }

    pub(super) fn nonce(&self) -> u64 {
        u64::from_be_bytes(self.shared.clock.ctx().random::<8>("nonce"))
    }
}
