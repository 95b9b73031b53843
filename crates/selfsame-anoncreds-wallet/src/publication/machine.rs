//! The machine of publications. The first call for a definition makes its keys: they are stored, sealed, in the commit
//! that has the registry called. So the registry has no definition whose key could be lost, and after a crash the outbox
//! goes on with the transaction that was stored.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_anoncreds::format::{Message as _, Text as _};
use selfsame_anoncreds_roles::issuer::define;
use selfsame_core::Shared;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, Call, CallAnswer, Calling, Machine, Next, Round, Settlement};
use selfsame_credential::evidence::Step;
use selfsame_driver::record::RecordCache;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_registry::anoncreds::{Definition, Succession};
use selfsame_registry::{Operation, Transaction};
use selfsame_store::{Batch, Expect, NewOutbox, Put, Tag};
use tokio::sync::Semaphore;

use super::record::{
    AcceptedPublication, DEFINITION, DefinitionRecord, FailedPublication, PRIVATE_KEY, PUBLICATION,
    Publication, PublicationState,
};
use crate::endorsing::{
    EndorsedObject, EndorsingCell, FollowingWrite, SignedWrite, is_the_awaited, signed,
};
use crate::error::refused;

/// Seconds after which a publication asks again whether another one's keys are made.
const BUSY_SECONDS: u64 = 1;

/// The machine of publications.
pub(crate) struct Publishing {
    shared: Arc<Shared>,
    endorsing: EndorsingCell,
    records: RecordCache<Publication>,
    /// One search for primes at a time, so that sign-ins, which use the same pool, find a free core.
    turn: Semaphore,
}

/// What a publication is told, and what was made after its first call.
pub(crate) struct HeardPublication {
    what: PublicationInput,
    made: Option<MadePublication>,
}

/// What a publication is told.
enum PublicationInput {
    /// The answer to its call.
    Heard(CallAnswer),
    /// Its transaction, signed by the endorser too.
    Endorsed(Box<Transaction>),
}

/// The keys to store, unless they are stored already, and the transaction that publishes them.
struct MadePublication {
    keys: Batch,
    transaction: SignedWrite,
}

impl From<CallAnswer> for HeardPublication {
    fn from(answer: CallAnswer) -> Self {
        Self::of(PublicationInput::Heard(answer))
    }
}

impl From<Transaction> for HeardPublication {
    fn from(endorsed: Transaction) -> Self {
        Self::of(PublicationInput::Endorsed(Box::new(endorsed)))
    }
}

impl HeardPublication {
    fn of(what: PublicationInput) -> Self {
        Self { what, made: None }
    }
}

impl Publishing {
    pub(crate) fn new(shared: Arc<Shared>, endorsing: EndorsingCell) -> Self {
        Self {
            shared,
            endorsing,
            records: RecordCache::default(),
            turn: Semaphore::new(1),
        }
    }

    /// A publication's record, and the outbox entry of its first call. It is due at once: requests do not always make
    /// this call themselves.
    pub(crate) fn begun(&self, publication: &Publication) -> Result<(Put, NewOutbox)> {
        let put = Put::new(PUBLICATION, publication.id(), encode(publication)?);
        let put = publication.tags().into_iter().fold(put, Put::tag);
        Ok((put, self.entry(publication, Call::Dialogue)?))
    }

    /// The outbox entry of a publication's next call.
    pub(crate) fn entry(&self, publication: &Publication, call: Call) -> Result<NewOutbox> {
        let now = self.shared.clock.now();
        let (id, did) = (publication.id(), publication.author.did.as_str());
        let subject = match call {
            // In order with the author's other writes.
            Call::Registry(_) => did.to_owned(),
            _ => format!("{did} {id}"),
        };
        let entry = call.entry(PUBLICATION, &id, &subject, now)?;
        Ok(NewOutbox {
            not_before: now,
            ..entry
        })
    }

    /// Makes the keys, or reads those that an earlier attempt has stored, and signs the transaction.
    async fn make(&self, at: At<'_>, publication: &Publication) -> Result<MadePublication> {
        let mut operations = Vec::new();
        if publication.with_schema {
            let json = publication.schema.to_json().map_err(refused)?;
            operations.push(Operation::Schema { json });
        }
        let mut keys = Batch::new(at.tenant.clone());
        if publication.definition_id.is_some() {
            let (with_keys, json) = self.definition(at, publication, keys).await?;
            keys = with_keys;
            let before = publication.successor_of.as_ref();
            operations.push(Operation::CredentialDefinition(Definition {
                json,
                successor_of: before.map(|before| Succession {
                    definition: before.definition.clone(),
                    until: before.until,
                }),
                valid_until: None,
            }));
        }
        let (author, endorser) = (&publication.author, publication.endorser.as_ref());
        let transaction = signed(&self.shared, author, endorser, operations);
        Ok(MadePublication {
            transaction: transaction.await?,
            keys,
        })
    }

    /// The JSON of the definition, and the writes that store its keys if they are new.
    async fn definition(
        &self,
        at: At<'_>,
        publication: &Publication,
        keys: Batch,
    ) -> Result<(Batch, String)> {
        let stored = self.shared.store.read(at.tenant, DEFINITION, at.id).await?;
        if let Some(stored) = stored {
            let definition = decode::<DefinitionRecord>(&stored.value)?.definition;
            return Ok((keys, definition));
        }
        let ctx = self.shared.clock.ctx();
        let publication = publication.clone();
        let making = move || publication.defined(|new| define(new, &ctx));
        let defined = self.shared.work.run_in_turn(making).await??;
        let record = DefinitionRecord {
            definition: defined.definition.to_json().map_err(refused)?,
            correctness: defined.correctness.to_json().map_err(refused)?,
        };
        let private = defined.private.to_json().map_err(refused)?;
        let private = private.as_json().as_bytes().to_vec();
        let keys = keys
            .expect(DEFINITION, at.id, Expect::Absent)
            .expect(PRIVATE_KEY, at.id, Expect::Absent)
            .put(Put::new(DEFINITION, at.id, encode(&record)?))
            .put(Put::new(PRIVATE_KEY, at.id, private));
        Ok((keys, record.definition))
    }

    /// The step after the first call: the keys are stored, and the registry is called; or the transaction waits for its
    /// endorser.
    fn send(
        &self,
        publication: &mut Publication,
        made: Option<&MadePublication>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        let Some(made) = made else {
            let entry = Settlement::Later(BUSY_SECONDS);
            return Ok(Next {
                entry,
                ..Next::unchanged(round, ())
            });
        };
        let mut next = Next::written(round, ());
        next.batch = next.batch.and(made.keys.clone());
        let object = EndorsedObject::Publication;
        match self.endorsing.following(object, &made.transaction, round)? {
            FollowingWrite::Waiting { writes, authored } => {
                next.batch = next.batch.and(writes);
                publication.authored = Some(authored);
                publication.state = PublicationState::Endorsing;
                Ok(next)
            }
            FollowingWrite::Called(call) => {
                publication.state = PublicationState::Sending;
                Ok(next.call(self.entry(publication, call)?))
            }
        }
    }

    /// The step of a transaction that comes back from its endorser: the registry is called. One that the registry had
    /// refused is sent again, since the endorser may have got its role since.
    fn send_endorsed(
        &self,
        publication: &mut Publication,
        endorsed: &Transaction,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        match publication.state {
            PublicationState::Endorsing | PublicationState::Failed(_) => {
                is_the_awaited(publication.authored.as_ref(), endorsed)?;
                publication.state = PublicationState::Sending;
                let call = self.entry(publication, Call::registry(endorsed))?;
                Ok(Next::written(round, ()).call(call))
            }
            _ => Ok(Next::unchanged(round, ())),
        }
    }
}

#[async_trait]
impl Machine for Publishing {
    const KIND: &'static str = PUBLICATION;
    type Record = Publication;
    type Input = HeardPublication;
    type Reply = ();

    fn records(&self) -> &RecordCache<Publication> {
        &self.records
    }

    fn tags(&self, publication: &Publication) -> Option<Vec<Tag>> {
        Some(publication.tags())
    }

    async fn prepare(
        &self,
        at: At<'_>,
        publication: &Publication,
        heard: &mut HeardPublication,
    ) -> Result<()> {
        let is_first = matches!(heard.what, PublicationInput::Heard(CallAnswer::Finished));
        let is_wanted = is_first && matches!(publication.state, PublicationState::Preparing);
        if !is_wanted || heard.made.is_some() {
            return Ok(());
        }
        if publication.definition_id.is_none() {
            heard.made = Some(self.make(at, publication).await?);
        } else if let Ok(_turn) = self.turn.try_acquire() {
            heard.made = Some(self.make(at, publication).await?);
        }
        Ok(())
    }

    fn step(
        &self,
        publication: &mut Publication,
        heard: &HeardPublication,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        let answer = match &heard.what {
            PublicationInput::Heard(answer) => answer,
            PublicationInput::Endorsed(endorsed) => {
                return self
                    .send_endorsed(publication, endorsed, round)
                    .map(Step::Done);
            }
        };
        let next = match (&publication.state, answer) {
            (PublicationState::Preparing, CallAnswer::Finished) => {
                self.send(publication, heard.made.as_ref(), round)?
            }
            (PublicationState::Published(_), _) => Next::unchanged(round, ()),
            // Also the answer to a call that had been given up.
            (_, CallAnswer::Accepted(receipt)) => {
                let seq_no = receipt.seq_no;
                publication.state = PublicationState::Published(AcceptedPublication { seq_no });
                tracing::info!(schema = publication.schema_id, seq_no, "published");
                Next::written(round, ()).tell(EventKind::Anchored, seq_no.to_string())
            }
            (_, CallAnswer::Refused(error)) => {
                publication.state = PublicationState::Failed(FailedPublication {
                    reason: error.reason.clone(),
                    unanswered: None,
                });
                Next::written(round, ())
            }
            _ => Next::unchanged(round, ()),
        };
        Ok(Step::Done(next))
    }
}

#[async_trait]
impl Calling for Publishing {
    fn given_up(
        &self,
        publication: Option<&mut Publication>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        let (Some(publication), Some(error)) = (publication, error) else {
            return Ok(Next::unchanged(round, ()));
        };
        if publication.is_published() {
            return Ok(Next::unchanged(round, ()));
        }
        let unanswered = match round.entry.map(|entry| &entry.call) {
            Some(Call::Registry(transaction)) => Some(transaction.clone()),
            _ => None,
        };
        publication.state = PublicationState::Failed(FailedPublication {
            reason: error.reason.clone(),
            unanswered,
        });
        Ok(Next::written(round, ()))
    }

    /// What the first call is for is made before its step, which stores it.
    async fn converse(&self, _: At<'_>) -> Result<CallAnswer> {
        Ok(CallAnswer::Finished)
    }
}
