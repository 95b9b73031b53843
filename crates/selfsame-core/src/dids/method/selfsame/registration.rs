//! Writes to the registry. Each is stored with its purpose before it is sent, so that a crash loses none.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_crypto::KeyHandle;
use selfsame_crypto::encoding::{base64url_encode, hex_encode};
use selfsame_did::{Did, selfsame};
use selfsame_driver::record::RecordCache;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Reason, Result};
use selfsame_registry::network::Acceptance;
use selfsame_registry::transaction::Body;
use selfsame_registry::{Identifier, Operation, Receipt, Transaction, UnsignedTransaction};
use selfsame_store::{Batch, Expect, OutboxId, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::dids::record::{DID, DidRecord, did_id, put};
use crate::identity::{Identity, KEY_FRAGMENT};
use crate::machine::{At, Call, CallAnswer, Calling, Machine, Next, Round, Settlement};
use crate::organisation::Organisation;
use crate::shared::Shared;
use selfsame_driver::record::events::EventKind;

/// The kind of the record of a tenant's last [`Acceptance`] of an author agreement, with an empty identifier.
pub const ACCEPTANCE: &str = "registry_acceptance";
/// The kind of the records of pending registrations.
const KIND: &str = "registration";

/// The signer of a transaction.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Author {
    /// The tenant that holds its key.
    pub tenant: TenantId,
    /// Its DID.
    pub did: Did,
    /// The handle of its key.
    pub key: KeyHandle,
    /// The key's fragment, without `#`.
    pub fragment: String,
}

impl Author {
    /// An identity as a signer.
    #[must_use]
    pub fn of(identity: &Identity) -> Self {
        let fragment = identity.kid().rsplit_once('#');
        let fragment = fragment.map_or(KEY_FRAGMENT, |(_, fragment)| fragment);
        Self {
            tenant: identity.tenant().clone(),
            did: identity.did().clone(),
            key: identity.key().clone(),
            fragment: fragment.to_owned(),
        }
    }
}

/// A pending registration; deleted once it is accepted or refused.
#[derive(Deserialize, Serialize)]
pub struct PendingRegistration {
    transaction: String,
    then: Option<DidRecord>,
}

/// The machine of writes to the registry.
pub struct Registering {
    shared: Arc<Shared>,
    records: RecordCache<PendingRegistration>,
}

/// The answer to a pending change, and the record of its DID if the change was refused.
pub struct Heard {
    pub answer: CallAnswer,
    before: Option<Before>,
}

/// The record of a DID whose change is pending.
struct Before {
    record: DidRecord,
    version: u64,
}

impl From<CallAnswer> for Heard {
    fn from(answer: CallAnswer) -> Self {
        Self {
            answer,
            before: None,
        }
    }
}

impl Heard {
    /// Reads the record of the DID, if its change was refused.
    pub async fn look_up(
        &mut self,
        shared: &Shared,
        tenant: &TenantId,
        then: Option<&DidRecord>,
    ) -> Result<()> {
        self.before = None;
        if let (CallAnswer::Refused(_), Some(then)) = (&self.answer, then)
            && let Some(read) = shared.store.read(tenant, DID, &did_id(&then.did)).await?
        {
            self.before = Some(Before {
                record: decode(&read.value)?,
                version: read.version,
            });
        }
        Ok(())
    }

    /// The end of a pending change: updates the DID's record, or restores it after a refusal. A DID that was never
    /// registered is deleted.
    pub fn conclude<R>(
        &self,
        mut next: Next<R>,
        id: &str,
        then: Option<&DidRecord>,
    ) -> Result<Next<R>> {
        match (&self.answer, &self.before) {
            (CallAnswer::Refused(error), before) => {
                next.entry = Settlement::Buried(error.reason.clone());
                let is_ours = |before: &&Before| before.record.pending.as_deref() == Some(id);
                if let Some(before) = before.as_ref().filter(is_ours) {
                    next.batch = before.restored(next.batch)?;
                }
            }
            _ => {
                if let Some(then) = then {
                    next.batch = put(next.batch, then)?;
                }
            }
        }
        Ok(next)
    }
}

impl Before {
    fn restored(&self, batch: Batch) -> Result<Batch> {
        let id = did_id(&self.record.did);
        if self.record.version == 0 {
            let unchanged = Expect::Version(self.version);
            return Ok(batch.expect(DID, &id, unchanged).delete(DID, &id));
        }
        let record = DidRecord {
            pending: None,
            ..self.record.clone()
        };
        Ok(batch.update_version(DID, &id, self.version, encode(&record)?))
    }
}

impl Registering {
    /// The machine of one instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            records: RecordCache::default(),
        }
    }

    /// Stores a write with its call, in one commit with `batch`. Returns the call, unless the same transaction is pending.
    async fn intended(
        self: &Arc<Self>,
        author: &Author,
        batch: Batch,
        transaction: &Transaction,
        then: Option<DidRecord>,
    ) -> Result<Option<OutboxId>> {
        let id = registration_id(transaction);
        let (call, now) = (Call::registry(transaction), self.shared.clock.now());
        let entry = call.entry(KIND, &id, author.did.as_str(), now)?;
        let registration = PendingRegistration {
            transaction: base64url_encode(&transaction.to_bytes()),
            then,
        };
        let put = Put::new(KIND, &id, encode(&registration)?);
        let batch = batch
            .for_tenant(author.tenant.clone())
            .expect(KIND, &id, Expect::Absent)
            .enqueue(entry);
        match self.shared.begin(self, put, registration, batch).await {
            // The same transaction is pending already.
            Err(StoreError::Conflict { kind, .. }) if kind == KIND => Ok(None),
            first => Ok(first?),
        }
    }
}

#[async_trait]
impl Machine for Registering {
    const KIND: &'static str = KIND;
    type Record = PendingRegistration;
    type Input = Heard;
    type Reply = Result<Receipt>;

    fn records(&self) -> &RecordCache<PendingRegistration> {
        &self.records
    }

    async fn prepare(
        &self,
        at: At<'_>,
        registration: &PendingRegistration,
        heard: &mut Heard,
    ) -> Result<()> {
        let then = registration.then.as_ref();
        heard.look_up(&self.shared, at.tenant, then).await
    }

    fn step(
        &self,
        registration: &mut PendingRegistration,
        heard: &Heard,
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>> {
        let reply = self.absent(heard)?;
        let seq_no = reply.as_ref().ok().map(|receipt| receipt.seq_no);
        let next = Next::deleted(round, reply);
        let next = heard.conclude(next, round.at.id, registration.then.as_ref())?;
        Ok(Step::Done(match seq_no {
            Some(seq_no) => next.tell(EventKind::Anchored, seq_no.to_string()),
            None => next,
        }))
    }

    fn absent(&self, heard: &Heard) -> Result<Self::Reply> {
        match &heard.answer {
            CallAnswer::Accepted(receipt) => Ok(Ok(*receipt)),
            CallAnswer::Refused(error) => Ok(Err(error.clone())),
            _ => Err(Error::internal("a registry accepts or refuses")),
        }
    }
}

impl Calling for Registering {
    fn given_up(
        &self,
        _: Option<&mut PendingRegistration>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<Self::Reply>> {
        // Whether the registry accepted it is unknown: the registration stays pending, and the next change resumes it.
        let error = error.cloned();
        let done = || Error::internal("another task has finished this registration");
        Ok(Next::unchanged(round, Err(error.unwrap_or_else(done))))
    }
}

impl Shared {
    /// What a tenant has accepted of author agreements, if that is the one in force.
    ///
    /// # Errors
    /// The store's.
    pub async fn acceptance(&self, tenant: &TenantId) -> Result<Option<Acceptance>> {
        let Some(kept) = self.store.read(tenant, ACCEPTANCE, "").await? else {
            return Ok(None);
        };
        let accepted = Acceptance::from_bytes(&kept.value).map_err(Error::damaged)?;
        // A registry that is away judges it once it is back.
        let Ok(in_force) = self.own_registry()?.agreement().await else {
            return Ok(Some(accepted));
        };
        let agreement = in_force.and_then(|one| one.agreement);
        Ok(agreement
            .filter(|one| accepted.is_of(one))
            .map(|_| accepted))
    }

    /// What a transaction says of the author agreement. The operator has accepted it for the DIDs that this instance
    /// creates: whose DID does not exist yet can't accept it. Later transactions need the organisation's own acceptance.
    async fn accepted_for(
        &self,
        author: &Author,
        operations: &[Operation],
    ) -> Result<Option<Acceptance>> {
        match self.acceptance(&author.tenant).await? {
            None if matches!(operations, [Operation::CreateDid(_)]) => {
                let operator = Organisation::main(&self.config.origin)?.issuer;
                self.acceptance(&operator).await
            }
            own => Ok(own),
        }
    }

    /// Signs a transaction.
    pub async fn signed(
        &self,
        author: &Author,
        nonce: u64,
        operations: Vec<Operation>,
    ) -> Result<Transaction> {
        let not_ours = || Error::bad_request("did-not-selfsame").with("did", &author.did);
        let (network, _) = selfsame::parts(&author.did).ok_or_else(not_ours)?;
        let id = Identifier::of_did(&author.did, &network).ok_or_else(not_ours)?;
        let unsigned = UnsignedTransaction::of(Body {
            agreement: self.accepted_for(author, &operations).await?,
            ..Body::new(&network, id, nonce, operations)
        });
        let signature = self
            .keys
            .sign(&author.tenant, &author.key, unsigned.signing_bytes())
            .await?;
        unsigned
            .signed(&author.fragment, &signature)
            .map_err(Error::internal)
    }

    /// Stores a write to the registry and its call in one commit with `batch`, sends it, and waits for the receipt. `then`
    /// is the DID's record once the registry has accepted the write. After an error that is not a refusal, the outbox
    /// sends it again.
    pub async fn register(
        self: &Arc<Self>,
        author: &Author,
        batch: Batch,
        transaction: &Transaction,
        then: Option<DidRecord>,
    ) -> Result<Receipt> {
        let machine = Arc::new(Registering::new(self.clone()));
        let first = machine.intended(author, batch, transaction, then).await?;
        if let Some(reply) = self.go_on(&machine, first).await.map_err(kept)? {
            return reply;
        }
        // Another task carries it out. The registry answers both with the same receipt.
        let at = At {
            tenant: &author.tenant,
            id: &registration_id(transaction),
        };
        let call = Call::registry(transaction);
        let again = self.call_again(&*machine, at, &call).await;
        again.map_err(kept)?.reply
    }

    /// As [`Self::register`], without a receipt: if the registry does not answer, the outbox sends the write later. Writes
    /// of this author that were stored before come first, so that the newer of two states lasts.
    pub async fn register_in_turn(
        self: &Arc<Self>,
        author: &Author,
        batch: Batch,
        transaction: &Transaction,
    ) -> Result<()> {
        let machine = Arc::new(Registering::new(self.clone()));
        let first = machine.intended(author, batch, transaction, None).await?;
        // A failure is logged there, and tried again later.
        drop(self.go_on(&machine, first).await);
        Ok(())
    }

    /// Finishes the pending registration of a DID.
    pub async fn resume(self: &Arc<Self>, tenant: &TenantId, registration: &str) -> Result<()> {
        let Some(record) = self.store.read(tenant, KIND, registration).await? else {
            return Ok(());
        };
        let pending: PendingRegistration = decode(&record.value)?;
        let at = At {
            tenant,
            id: registration,
        };
        let machine = Registering::new(self.clone());
        let call = Call::Registry(pending.transaction);
        let again = self.call_again(&machine, at, &call).await;
        again.map_err(kept)?.reply.map(drop)
    }
}

/// The id of a transaction's registration.
pub fn registration_id(transaction: &Transaction) -> String {
    hex_encode(&transaction.hash())
}

/// Adds a hint for the operator: what failed for a while is not lost.
pub fn kept(error: Error) -> Error {
    if error.is_refusal() {
        return error;
    }
    Error {
        reason: Reason::new("sent-again-later").because(error.reason),
        ..error
    }
}
