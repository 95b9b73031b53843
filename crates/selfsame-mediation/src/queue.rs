//! Envelopes that wait for peers: each is a record, with a slip beside it that tells what it is, so that a mailbox is
//! looked through without its envelopes.

use std::sync::Arc;

use selfsame_aries::key::VerKey;
use selfsame_aries::wire::fresh_id;
use selfsame_core::Shared;
use selfsame_core::events::{Event, EventKind};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, MAX_PAGE, Page, Put, Record, TenantId};
use serde::{Deserialize, Serialize};

use crate::mailbox::Mailbox;
use crate::room::{CountedMailbox, EnvelopeRoom, MailboxCounts, RoomOf, full};
use crate::terms::MediationTerms;

/// The kind of the slips.
const SLIP: &str = "aries_slip";
/// The kind of the envelopes that an agent sends.
const OWN: &str = "aries_envelope";
/// The kind of the envelopes that an agent passes on. Each kind has room of its own.
const MEDIATED: &str = "aries_mediated_envelope";

/// The envelopes that wait. Clones are the same.
#[derive(Clone)]
pub struct EnvelopeQueue(Arc<QueueParts>);

struct QueueParts {
    shared: Arc<Shared>,
    room: EnvelopeRoom,
    mailboxes: MailboxCounts,
}

/// An envelope that is to wait.
#[derive(Clone, Debug)]
pub struct NewEnvelope {
    /// Where.
    pub mailbox: Mailbox,
    /// The key that it is for.
    pub to: VerKey,
    /// The thread of its message, if it is known.
    pub thread: Option<String>,
    /// The envelope.
    pub envelope: Vec<u8>,
}

/// An envelope that is to be written, and the event that wakes who waits for it.
pub struct QueuedWrites {
    /// The writes.
    pub batch: Batch,
    /// The event.
    pub event: Event,
}

/// What is known of an envelope that waits.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EnvelopeSlip {
    /// The key that it is for.
    pub to: VerKey,
    /// The thread of its message, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it came.
    pub came: UnixTime,
}

/// An envelope that waits, by its slip.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaitingEnvelope {
    /// Its identifier.
    pub id: String,
    /// Its slip.
    pub slip: EnvelopeSlip,
    /// The place after it in its mailbox.
    pub cursor: String,
}

impl EnvelopeQueue {
    /// The envelopes in these records.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self(Arc::new(QueueParts {
            shared,
            room: EnvelopeRoom::default(),
            mailboxes: MailboxCounts::default(),
        }))
    }

    /// What is written for an envelope to wait. Processes that add to a mailbox within the same few seconds may exceed its
    /// bounds by what each of them adds.
    ///
    /// # Errors
    /// `Full` if no more can wait for this peer, or in all; the store's.
    pub async fn add(
        &self,
        tenant: &TenantId,
        new: NewEnvelope,
        terms: &MediationTerms,
    ) -> Result<QueuedWrites> {
        let QueueParts { shared, room, .. } = &*self.0;
        let bytes = u64::try_from(new.envelope.len()).unwrap_or(u64::MAX);
        self.take_room(tenant, &new.mailbox, bytes, terms).await?;
        let kind = kind(&new.mailbox);
        let of = RoomOf {
            tenant,
            kind,
            terms,
        };
        room.take(&shared.store, of, bytes).await?;
        let ctx = shared.clock.ctx();
        let (id, until) = (
            fresh_id("envelope", &ctx),
            ctx.now().plus(terms.kept_seconds),
        );
        let slip = EnvelopeSlip {
            to: new.to,
            thread: new.thread,
            bytes,
            came: ctx.now(),
        };
        let slip = Put::new(SLIP, &id, encode(&slip)?).tag(new.mailbox.tag());
        let envelope = Put::new(kind, &id, new.envelope);
        let batch = Batch::new(tenant.clone()).put(slip.expires(until));
        Ok(QueuedWrites {
            batch: batch.put(envelope.expires(until)),
            event: Event::new(EventKind::EnvelopeQueued, new.mailbox.told(tenant)),
        })
    }

    /// Takes room in a mailbox. It is counted before an envelope is refused: others may have gone.
    async fn take_room(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
        bytes: u64,
        terms: &MediationTerms,
    ) -> Result<()> {
        let mailboxes = &self.0.mailboxes;
        let known = mailboxes.known(tenant, mailbox);
        let known = known.map(|known| known.with(bytes));
        let counted = match known.filter(|known| known.fits(terms)) {
            Some(known) => known,
            None => {
                let waiting = self.waiting(tenant, mailbox).await?;
                let lengths = waiting.iter().map(|one| one.slip.bytes);
                CountedMailbox::of(lengths).with(bytes)
            }
        };
        if !counted.fits(terms) {
            return Err(full());
        }
        mailboxes.keep(tenant, mailbox, counted);
        Ok(())
    }

    /// What waits in a mailbox, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn waiting(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
    ) -> Result<Vec<WaitingEnvelope>> {
        let mut all: Vec<WaitingEnvelope> = Vec::new();
        loop {
            let after = all.last().map(|last| last.cursor.clone());
            let page = self.page(tenant, mailbox, after, MAX_PAGE).await?;
            let is_last = page.len() < MAX_PAGE;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// A part of a mailbox, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn page(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<WaitingEnvelope>> {
        let page = Page {
            after,
            ..Page::first(limit)
        };
        let store = &self.0.shared.store;
        let found = store.find(tenant, SLIP, &mailbox.tag(), &page).await?;
        found.iter().map(read).collect()
    }

    /// An envelope; `None` if it waits no more.
    ///
    /// # Errors
    /// The store's.
    pub async fn envelope(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
        id: &str,
    ) -> Result<Option<Vec<u8>>> {
        let store = &self.0.shared.store;
        let found = store.read(tenant, kind(mailbox), id).await?;
        Ok(found.map(|record| record.value))
    }

    /// Adds the removal of an envelope to a batch of its agent.
    pub fn removed(batch: Batch, mailbox: &Mailbox, id: &str) -> Batch {
        batch.delete(SLIP, id).delete(kind(mailbox), id)
    }

    /// The removal of all that waits in a mailbox.
    ///
    /// # Errors
    /// The store's.
    pub async fn emptied(&self, tenant: &TenantId, mailbox: &Mailbox) -> Result<Batch> {
        let waiting = self.waiting(tenant, mailbox).await?;
        let batch = Batch::new(tenant.clone());
        Ok(waiting
            .iter()
            .fold(batch, |batch, one| Self::removed(batch, mailbox, &one.id)))
    }
}

fn read(record: &Record) -> Result<WaitingEnvelope> {
    Ok(WaitingEnvelope {
        id: record.id.clone(),
        slip: decode(&record.value).map_err(|_| Error::damaged("a slip can't be read"))?,
        cursor: record.cursor(),
    })
}

/// The kind of the envelopes of a mailbox.
fn kind(mailbox: &Mailbox) -> &'static str {
    match mailbox.is_mediated() {
        true => MEDIATED,
        false => OWN,
    }
}
