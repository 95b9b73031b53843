//! DIDs in the cheqd network, written by a registrar that has none of their keys. Each change is stored before it is
//! sent, signed only as intended, and made once.
//!
//! The version's name is drawn here and is part of the signed bytes. The network accepts each name once. So whatever is
//! lost on the way, sending a change again can't make it twice, and the name tells whether it was made.

mod registrar;

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType};
use selfsame_did::ResolutionError;
use selfsame_did::method::cheqd::{self, DocumentDraft, deactivation_bytes};
use selfsame_did::registrar::{Operation, RegistrarAnswer, SigningRequest};
use selfsame_driver::record::RecordCache;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use super::selfsame::registration::{Heard, kept};
use crate::dids::record::{DID, DidKey, DidRecord, did_id, put};
use crate::dids::{Dids, OwnDid, key_type};
use crate::machine::{At, Call, CallAnswer as Called, Calling, Machine, Next, Round};
use crate::shared::Shared;
use crate::view::NewDid;
use registrar::{RegistrarResponse, refused};

/// The kind of the records of pending changes.
const KIND: &str = "cheqd_change";
/// Maximum number of calls in one attempt.
const CALLS_MAX: usize = 8;
/// Seconds after which a change that reached the network is in a block, or never will be.
const SETTLED_AFTER: u64 = 120;

/// The machine of changes in the cheqd network.
pub struct Changing {
    shared: Arc<Shared>,
    records: RecordCache<CheqdChange>,
}

/// A pending change; deleted once it is made or refused. Its id is the version's name.
#[derive(Deserialize, Serialize)]
pub struct CheqdChange {
    /// The registrar's job, once there is one.
    job: Option<String>,
    /// When signatures were last sent. From then on the change may have been made.
    sent: Option<UnixTime>,
    /// The DID's record after the change.
    then: DidRecord,
}

/// A change while it is carried out.
struct Attempt<'a> {
    tenant: &'a TenantId,
    /// The version's name.
    id: &'a str,
    change: CheqdChange,
    /// The version of the change's record in the store.
    stored: u64,
    /// When an earlier attempt sent signatures whose outcome is not known.
    sent_before: Option<UnixTime>,
    /// Whether the job is from an earlier attempt; the registrar may have forgotten it.
    is_resumed: bool,
}

impl Dids {
    /// Creates a DID in the cheqd network. It exists there before this returns.
    pub(super) async fn create_cheqd(&self, new: &NewDid) -> Result<DidRecord> {
        let shared = &self.shared;
        shared.registrar()?;
        if key_type(new.kind.as_deref().unwrap_or("Ed25519"))? != KeyType::Ed25519 {
            return Err(Error::bad_request("cheqd-key-type"));
        }
        let batch = Batch::new(self.tenant.clone());
        let (key, _, batch) = shared.keys.create(&self.tenant, KeyType::Ed25519, batch)?;
        let random = shared.clock.ctx().random::<16>("did");
        let did = cheqd::create(shared.config.resolver.cheqd_network, random);
        let record = DidRecord::new(did, key.public());
        let batch = batch.expect(DID, &did_id(&record.did), Expect::Absent);
        let id = shared.new_version();
        let batch = put(batch, &record.waiting(&id))?;
        let then = record.next();
        shared.make(batch, &self.tenant, &id, &then).await?;
        Ok(then)
    }

    /// Changes a DID in the cheqd network and returns its new record.
    pub(super) async fn change_cheqd(
        &self,
        batch: Batch,
        before: &OwnDid,
        after: DidRecord,
    ) -> Result<DidRecord> {
        self.shared.registrar()?;
        let id = self.shared.new_version();
        let waiting = before.record.waiting(&id);
        let batch = batch.update(DID, &before.stored, encode(&waiting)?);
        let then = after.next();
        self.shared.make(batch, &self.tenant, &id, &then).await?;
        Ok(then)
    }
}

impl Changing {
    /// The machine of one instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            records: RecordCache::default(),
        }
    }
}

#[async_trait]
impl Machine for Changing {
    const KIND: &'static str = KIND;
    type Record = CheqdChange;
    type Input = Heard;
    type Reply = Result<()>;

    fn records(&self) -> &RecordCache<CheqdChange> {
        &self.records
    }

    async fn prepare(&self, at: At<'_>, change: &CheqdChange, heard: &mut Heard) -> Result<()> {
        let then = Some(&change.then);
        heard.look_up(&self.shared, at.tenant, then).await
    }

    fn step(
        &self,
        change: &mut CheqdChange,
        heard: &Heard,
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>> {
        let next = Next::deleted(round, self.absent(heard)?);
        let next = heard.conclude(next, round.at.id, Some(&change.then))?;
        Ok(Step::Done(next))
    }

    fn absent(&self, heard: &Heard) -> Result<Self::Reply> {
        match &heard.answer {
            Called::Finished => Ok(Ok(())),
            Called::Refused(error) => Ok(Err(error.clone())),
            _ => Err(Error::internal("a change is made or refused")),
        }
    }
}

#[async_trait]
impl Calling for Changing {
    fn given_up(
        &self,
        _: Option<&mut CheqdChange>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<Self::Reply>> {
        // Whether the change was made is unknown: it stays pending, and the next change of the DID resumes it.
        Ok(Next::unchanged(round, error.cloned().map_or(Ok(()), Err)))
    }

    async fn converse(&self, at: At<'_>) -> Result<Called> {
        let shared = &self.shared;
        let Some(record) = shared.store.read(at.tenant, KIND, at.id).await? else {
            // Another task has finished it.
            return Ok(Called::Finished);
        };
        let change: CheqdChange = decode(&record.value)?;
        let did = change.then.did.clone();
        let mut attempt = Attempt {
            tenant: at.tenant,
            id: at.id,
            stored: record.version,
            sent_before: change.sent,
            is_resumed: change.job.is_some(),
            change,
        };
        let answer = match shared.carry_out_attempt(&mut attempt).await {
            Ok(()) => Called::Finished,
            Err(error) if error.is_refusal() => {
                tracing::warn!(%error, did = %did, "the cheqd network refused a change");
                Called::Refused(error)
            }
            Err(error) => return Err(error),
        };
        shared.resolver.forget(&did);
        Ok(answer)
    }
}

impl Shared {
    fn new_version(&self) -> String {
        cheqd::uuid(self.clock.ctx().random::<16>("version"))
    }

    /// Stores the change and its call in one commit with `batch`, and carries it out. After an error that is not a
    /// refusal, the outbox tries again.
    async fn make(
        self: &Arc<Self>,
        batch: Batch,
        tenant: &TenantId,
        id: &str,
        then: &DidRecord,
    ) -> Result<()> {
        let change = CheqdChange {
            job: None,
            sent: None,
            then: then.clone(),
        };
        let now = self.clock.now();
        let batch = batch
            .for_tenant(tenant.clone())
            .expect(KIND, id, Expect::Absent)
            .enqueue(Call::Dialogue.entry(KIND, id, then.did.as_str(), now)?);
        let put = Put::new(KIND, id, encode(&change)?);
        let machine = Arc::new(Changing::new(self.clone()));
        let first = self.begin(&machine, put, change, batch).await?;
        match self.go_on(&machine, first).await.map_err(kept)? {
            Some(made) => made,
            // An earlier entry is not settled, or another task carries this one out. The network answers both the same.
            None => self.resume_cheqd(tenant, id).await,
        }
    }

    /// Finishes the pending change of a DID.
    pub async fn resume_cheqd(self: &Arc<Self>, tenant: &TenantId, change: &str) -> Result<()> {
        let machine = Changing::new(self.clone());
        let at = At { tenant, id: change };
        let again = self.call_again(&machine, at, &Call::Dialogue).await;
        again.map_err(kept)?.reply
    }

    /// One attempt. A refusal means that the change was not made and can't be made any more.
    async fn carry_out_attempt(&self, attempt: &mut Attempt<'_>) -> Result<()> {
        if attempt.sent_before.is_some() && self.is_made(attempt).await? {
            return Ok(());
        }
        let mut signatures = Vec::new();
        for _ in 0..CALLS_MAX {
            let given = std::mem::take(&mut signatures);
            match self.ask_registrar(attempt, given).await? {
                RegistrarResponse::Answer(RegistrarAnswer::Finished) => return Ok(()),
                RegistrarResponse::Answer(RegistrarAnswer::Wait { job, milliseconds }) => {
                    self.note(attempt, job, false).await?;
                    registrar::pause(milliseconds).await?;
                }
                RegistrarResponse::Answer(RegistrarAnswer::Sign { job, requests }) => {
                    for request in requests {
                        let signature = self.sign_as_meant(attempt, &request).await?;
                        signatures.push((request, signature));
                    }
                    // Stored before they are sent: a crash from here on leaves a change that may have been made.
                    self.note(attempt, job, true).await?;
                }
                RegistrarResponse::Answer(RegistrarAnswer::Failed { .. }) if attempt.is_resumed => {
                    // The job was forgotten or it failed; the answer does not tell which. A new job will.
                    attempt.is_resumed = false;
                    attempt.change.job = None;
                }
                RegistrarResponse::Answer(RegistrarAnswer::Failed { reason }) => {
                    return self.judge_failure(attempt, &reason).await;
                }
                RegistrarResponse::Nonsense(error) => return Err(error),
            }
        }
        Err(Error::upstream("registrar-endless"))
    }

    /// Whether the network has the version with this name.
    async fn is_made(&self, attempt: &Attempt<'_>) -> Result<bool> {
        let then = &attempt.change.then;
        let unknown = |error: &dyn std::fmt::Display| {
            tracing::warn!(%error, "the cheqd network could not be queried");
            Error::new(
                ErrorKind::Unavailable { retry_after: 5 },
                "cheqd-change-unknown",
            )
        };
        let said = self.resolver.said_now(&then.did).await;
        let resolution = said.map_err(|error| unknown(&error))?;
        match resolution.metadata.error {
            None => Ok(resolution.document_metadata.version_id.as_deref() == Some(attempt.id)),
            Some(ResolutionError::NotFound) => Ok(false),
            Some(error) => Err(unknown(&error)),
        }
    }

    /// Judges a failure. It is a refusal once no earlier signature can still make the change.
    async fn judge_failure(&self, attempt: &Attempt<'_>, reason: &str) -> Result<()> {
        if attempt.change.sent.is_some() && self.is_made(attempt).await? {
            return Ok(());
        }
        match attempt.sent_before {
            Some(sent) if self.clock.now().seconds_since(sent) < SETTLED_AFTER => Err(Error::new(
                ErrorKind::Unavailable { retry_after: 5 },
                "cheqd-attempt-pending",
            )),
            _ => Err(refused(reason)),
        }
    }

    /// The requested signature, if the bytes are those intended and the key is one that must sign them.
    async fn sign_as_meant(
        &self,
        attempt: &Attempt<'_>,
        request: &SigningRequest,
    ) -> Result<Vec<u8>> {
        let key = attempt.change.signer(request)?;
        if request.payload != attempt.change.payload(attempt.id)? {
            tracing::error!(did = %attempt.change.then.did, "the registrar asks for a signature of something else");
            return Err(Error::upstream("registrar-signs-other-payload"));
        }
        self.keys.sign(attempt.tenant, key, &request.payload).await
    }

    /// Stores the progress of a change.
    async fn note(&self, attempt: &mut Attempt<'_>, job: String, will_send: bool) -> Result<()> {
        let is_known = attempt.change.job.as_deref() == Some(&job);
        attempt.is_resumed = false;
        attempt.change.job = Some(job);
        if will_send {
            attempt.change.sent = Some(self.clock.now());
        } else if is_known {
            return Ok(());
        }
        let batch = Batch::new(attempt.tenant.clone())
            .expect(KIND, attempt.id, Expect::Version(attempt.stored))
            .put(Put::new(KIND, attempt.id, encode(&attempt.change)?));
        match self.store.commit(batch).await {
            Ok(_) => {
                attempt.stored = attempt.stored.saturating_add(1);
                Ok(())
            }
            // Another attempt is in progress, or has finished the change.
            Err(StoreError::Conflict { .. }) => Err(under_way()),
            Err(other) => Err(other.into()),
        }
    }
}

impl DidRecord {
    /// The document that is written to the cheqd network.
    pub(super) fn draft(&self) -> Result<DocumentDraft> {
        let mut draft = DocumentDraft::new(self.did.clone());
        for (key, is_current) in self.keys_newest_first() {
            draft
                .add(&key.fragment, &key.public()?, is_current)
                .map_err(Error::internal)?;
        }
        Ok(draft)
    }
}

impl CheqdChange {
    fn operation(&self) -> Operation {
        match (self.then.deactivated, self.then.version) {
            (true, _) => Operation::Deactivate,
            (false, 1) => Operation::Create,
            (false, _) => Operation::Update,
        }
    }

    /// The bytes that the keys sign for the version with this name.
    fn payload(&self, version: &str) -> Result<Vec<u8>> {
        Ok(match self.operation() {
            Operation::Deactivate => deactivation_bytes(&self.then.did, version),
            Operation::Create | Operation::Update => self.then.draft()?.signing_bytes(version),
        })
    }

    /// The key that a request names. It must be the current key, or for an update the one before it.
    fn signer(&self, request: &SigningRequest) -> Result<&KeyHandle> {
        let many = match self.operation() {
            Operation::Update => 2,
            Operation::Create | Operation::Deactivate => 1,
        };
        let named = |key: &&DidKey| {
            let is_bare = request.kid.path.is_empty() && request.kid.query.is_none();
            request.kid.did == self.then.did
                && is_bare
                && request.kid.fragment.as_deref() == Some(&key.fragment)
        };
        let key = self.then.keys.iter().rev().take(many).find(named);
        key.map(|key| &key.handle)
            .ok_or_else(|| Error::upstream("registrar-signs-other-key"))
    }
}

fn under_way() -> Error {
    Error::new(
        ErrorKind::Unavailable { retry_after: 5 },
        "did-change-pending",
    )
}
