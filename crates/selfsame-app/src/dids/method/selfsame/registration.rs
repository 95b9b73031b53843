//! Writes to the registry. Each is stored with its purpose before it is sent, so that a crash loses none.

use selfsame_crypto::KeyHandle;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode, hex_encode};
use selfsame_did::{Did, selfsame};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_ledger::{Registry, is_refusal};
use selfsame_registry::{Identifier, Operation, Receipt, Transaction, Unsigned};
use selfsame_store::{Batch, Expect, Leased, OutboxId, Put, StoreError, TenantId};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::dids::record::{DID, DidRecord, did_id, put};
use crate::events::EventKind;
use crate::outbox::Job;
use crate::shared::Shared;

/// The kind of the records of pending registrations.
const KIND: &str = "registration";
/// Maximum number of tries. If a record changes more often, something else than its own registration changes it.
const TRIES_MAX: usize = 4;

/// The signer of a transaction.
pub(crate) struct Author {
    pub(crate) tenant: TenantId,
    pub(crate) did: Did,
    pub(crate) key: KeyHandle,
    /// The key's fragment, without `#`.
    pub(crate) fragment: String,
}

/// The DID's record once a pending change is accepted: the part that all records of pending changes have.
#[derive(Deserialize)]
struct Outcome {
    then: Option<DidRecord>,
}

/// A pending registration; deleted once it is accepted or refused.
#[derive(Deserialize, Serialize)]
struct Registration {
    transaction: String,
    then: Option<DidRecord>,
}

impl Shared {
    pub(crate) fn own_registry(&self) -> Result<&Arc<dyn Registry>> {
        self.registry.as_ref().ok_or_else(|| {
            Error::bad_request("this instance has no registry")
                .with_hint("set one with --registry and --registry-token-file, or in [registry]; or use another DID method, such as did_method = \"web\" in [issuer]")
        })
    }

    /// Signs a transaction.
    pub(crate) async fn transaction(
        &self,
        author: &Author,
        nonce: u64,
        operation: Operation,
    ) -> Result<Transaction> {
        let not_ours = || Error::bad_request(format!("{} is not a did:selfsame", author.did));
        let (network, _) = selfsame::parts(&author.did).ok_or_else(not_ours)?;
        let id = Identifier::of_did(&author.did, &network).ok_or_else(not_ours)?;
        let unsigned = Unsigned::new(&network, id, nonce, operation);
        let signature = self
            .keys
            .sign(&author.tenant, &author.key, unsigned.signing_bytes())
            .await?;
        unsigned
            .signed(&author.fragment, &signature)
            .map_err(Error::internal)
    }

    /// Stores the transaction and its effect in one commit with `batch`, sends it, and waits for the receipt. `then` is
    /// the author's record afterwards, if this changes. After an error that is not a refusal, the outbox sends it again.
    pub(crate) async fn register(
        &self,
        author: &Author,
        batch: Batch,
        transaction: &Transaction,
        then: Option<DidRecord>,
    ) -> Result<Receipt> {
        let id = registration_id(transaction);
        let bytes = base64url_encode(&transaction.to_bytes());
        let entry = Job::Submit {
            transaction: bytes.clone(),
        }
        .own_entry("registry", author.did.as_str(), self.clock.now())?;
        let registration = Registration {
            transaction: bytes,
            then,
        };
        let batch = batch
            .for_tenant(author.tenant.clone())
            .expect(KIND, &id, Expect::Absent)
            .put(Put::new(KIND, &id, encode(&registration)?))
            .enqueue(entry);
        let entry = match self.store.commit(batch).await {
            Ok(committed) => committed.outbox.last().copied(),
            // The same transaction is pending already.
            Err(StoreError::Conflict { kind, .. }) if kind == KIND => None,
            Err(other) => return Err(other.into()),
        };
        let leased = match entry {
            Some(entry) => self.store.lease_early(entry).await?,
            None => None,
        };
        match leased {
            Some(leased) => self.carry_out_here(&leased).await.map_err(kept),
            // Another task carries it out. The registry answers both with the same receipt.
            None => {
                let sent = self.send(&author.tenant, transaction, None);
                sent.await.map_err(kept)
            }
        }
    }

    /// Carries out an outbox entry with a transaction, and settles it. The caller must bury the entry after a refusal,
    /// and try it again after any other error.
    ///
    /// # Errors
    /// The registry's and the store's errors.
    pub(crate) async fn carry_out(&self, leased: &Leased) -> Result<Receipt> {
        let Job::Submit { transaction } = Job::read(leased)? else {
            return Err(Error::internal("the outbox entry is not a transaction"));
        };
        self.send(&leased.tenant, &read(&transaction)?, Some(leased.id))
            .await
    }

    /// As [`Self::carry_out`], and puts off or buries the entry after an error.
    ///
    /// # Errors
    /// As [`Self::carry_out`].
    pub(crate) async fn carry_out_here(&self, leased: &Leased) -> Result<Receipt> {
        let result = self.carry_out(leased).await;
        if let Err(error) = &result {
            self.put_off(leased, error).await;
        }
        result
    }

    /// Finishes the pending registration of a DID.
    pub(crate) async fn resume(&self, tenant: &TenantId, registration: &str) -> Result<()> {
        if let Some(record) = self.store.read(tenant, KIND, registration).await? {
            let kept_one: Registration = decode(&record.value)?;
            self.send(tenant, &read(&kept_one.transaction)?, None)
                .await
                .map_err(kept)?;
        }
        Ok(())
    }

    async fn send(
        &self,
        tenant: &TenantId,
        transaction: &Transaction,
        entry: Option<OutboxId>,
    ) -> Result<Receipt> {
        let id = registration_id(transaction);
        match self.own_registry()?.submit(transaction).await {
            Ok(receipt) => {
                self.close(tenant, (KIND, &id), (entry, true)).await?;
                self.events
                    .tell(EventKind::Anchored, receipt.seq_no.to_string());
                Ok(receipt)
            }
            Err(error) if is_refusal(&error) => {
                tracing::warn!(%error, code = error.code, "the registry refused a transaction");
                self.close(tenant, (KIND, &id), (None, false)).await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the pending change with this kind and id, settles its entry, and updates the DID's record.
    pub(crate) async fn close(
        &self,
        tenant: &TenantId,
        (kind, id): (&'static str, &str),
        (mut entry, accepted): (Option<OutboxId>, bool),
    ) -> Result<()> {
        for _ in 0..TRIES_MAX {
            let mut batch = Batch::new(tenant.clone());
            if let Some(entry) = entry {
                batch = batch.settle(entry);
            }
            if let Some(record) = self.store.read(tenant, kind, id).await? {
                batch = batch
                    .expect(kind, id, Expect::Version(record.version))
                    .delete(kind, id);
                let outcome: Outcome = decode(&record.value)?;
                if let Some(then) = outcome.then {
                    batch = match accepted {
                        true => put(batch, &then)?,
                        false => self.undo(batch, tenant, (&then, id)).await?,
                    };
                }
            }
            match self.store.commit(batch).await {
                Ok(_) => return Ok(()),
                // Another task that sent the same transaction has settled it.
                Err(StoreError::Conflict { kind, .. }) if kind == "outbox" => entry = None,
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            "this was changed in the meantime",
        ))
    }

    /// Restores the DID's record; deletes it if the DID was never registered.
    async fn undo(
        &self,
        batch: Batch,
        tenant: &TenantId,
        (then, id): (&DidRecord, &str),
    ) -> Result<Batch> {
        let at = did_id(&then.did);
        let Some(read) = self.store.read(tenant, DID, &at).await? else {
            return Ok(batch);
        };
        let mut record: DidRecord = decode(&read.value)?;
        if record.pending.as_deref() != Some(id) {
            return Ok(batch);
        }
        if record.version == 0 {
            return Ok(batch
                .expect(DID, &at, Expect::Version(read.version))
                .delete(DID, &at));
        }
        record.pending = None;
        Ok(batch.update(DID, &read, encode(&record)?))
    }
}

/// The id of a transaction's registration.
pub(crate) fn registration_id(transaction: &Transaction) -> String {
    hex_encode(&transaction.hash())
}

fn read(transaction: &str) -> Result<Transaction> {
    let bytes = base64url_decode(transaction).map_err(Error::internal)?;
    Transaction::from_bytes(&bytes).map_err(Error::internal)
}

/// Adds a hint for the operator: what failed for a while is not lost.
pub(crate) fn kept(error: Error) -> Error {
    if is_refusal(&error) || error.hint.is_some() {
        error
    } else {
        error.with_hint("it is stored and will be sent again")
    }
}
