//! The seam below the front: what a back end keeps, already sealed and hashed.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};
use crate::meter::Meter;
use crate::record::Expect;
pub use crate::record::Window;
use crate::tenant::TenantId;

/// How long a dead letter is kept before [`crate::Store::purge_expired`] removes it.
pub const DEAD_LETTER_SECONDS: u64 = 30 * 24 * 60 * 60;

/// Names an entry of the outbox; unique in the instance.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct OutboxId(pub u64);

impl fmt::Display for OutboxId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Where a record lies.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// The tenant.
    pub tenant: TenantId,
    /// The kind.
    pub kind: String,
    /// The identifier.
    pub id: String,
}

/// A record as kept.
#[derive(Clone, Debug)]
pub struct SealedRecord {
    /// The identifier.
    pub id: String,
    /// The order of insertion.
    pub seq: u64,
    /// The version, which the sealed value is bound to.
    pub version: u64,
    /// From when on it reads as absent.
    pub expires: Option<UnixTime>,
    /// The sealed value.
    pub value: Vec<u8>,
}

/// An outbox entry as kept.
#[derive(Clone, Debug)]
pub struct SealedEntry {
    /// Its identifier, unique in the instance.
    pub id: OutboxId,
    /// The tenant whose key seals it.
    pub tenant: TenantId,
    /// A keyed hash of destination and subject; entries of a lane are carried out one after the other.
    pub lane: [u8; 16],
    /// Not before that time.
    pub not_before: UnixTime,
    /// How often it was retried.
    pub attempts: u32,
    /// When it was enqueued.
    pub created: UnixTime,
    /// The sealed rest.
    pub sealed: Vec<u8>,
}

/// A dead letter as kept.
#[derive(Clone, Debug)]
pub struct SealedLetter {
    /// The entry.
    pub entry: SealedEntry,
    /// The order.
    pub seq: u64,
    /// Why it was given up.
    pub reason: String,
    /// When it was given up.
    pub buried: UnixTime,
}

/// One write of a batch.
#[derive(Clone, Debug)]
pub enum Write {
    /// Judged before all other writes.
    Expect(Place, Expect),
    /// A record whole.
    Put {
        /// Where.
        place: Place,
        /// The new version.
        version: u64,
        /// The sealed value.
        value: Vec<u8>,
        /// The tag keys, sorted and without repetition.
        tags: Vec<Vec<u8>>,
        /// From when on it reads as absent.
        expires: Option<UnixTime>,
    },
    /// A new value for a record whose version was expected.
    Update {
        /// Where.
        place: Place,
        /// The new version.
        version: u64,
        /// The sealed value.
        value: Vec<u8>,
    },
    /// No such record any more.
    Delete(Place),
    /// A new entry at the end of its lane.
    Enqueue(SealedEntry),
    /// A pending entry is done.
    Settle(OutboxId),
    /// A pending entry waits until that time.
    Retry(OutboxId, UnixTime),
    /// A pending entry becomes a dead letter, for that reason.
    Bury(OutboxId, String),
    /// A dead letter becomes the last pending entry of its lane.
    Replay(OutboxId),
    /// Raises a counter by so much.
    Reserve(TenantId, String, u64),
    /// Raises every counter by so much.
    Leap(u64),
    /// Removes what has expired, and dead letters older than that time, so many at most of each.
    Purge(UnixTime, usize),
}

/// Writes that take effect together.
#[derive(Clone, Debug)]
pub struct SealedBatch {
    /// When it was made.
    pub now: UnixTime,
    /// False if it need not wait for the disk.
    pub durable: bool,
    /// What to write.
    pub writes: Vec<Write>,
}

/// What a batch gave.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outcome {
    /// What was reserved of counters, in the order of the batch.
    pub reserved: Vec<Range<u64>>,
    /// How much was purged.
    pub purged: u64,
    /// The entries enqueued that are first of their lane.
    pub heads: Vec<OutboxId>,
}

/// How much waits in the outbox.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Backlog {
    /// Entries to be carried out.
    pub pending: u64,
    /// Entries given up.
    pub dead: u64,
}

/// How much there is of something.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Weight {
    /// Records.
    pub records: u64,
    /// Bytes of their sealed values.
    pub bytes: u64,
}

/// Keeps sealed records, the outbox and counters. Reads see every commit that was answered before them.
#[async_trait]
pub trait Backend: Send + Sync {
    /// The record there, unless absent or expired.
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>>;
    /// The version of the record there, unless absent or expired.
    async fn version(&self, place: &Place, now: UnixTime) -> Result<Option<u64>> {
        let record = self.read(place, now).await?;
        Ok(record.map(|record| record.version))
    }
    /// Records of a tag key.
    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>>;
    /// Records of a tenant's kind.
    async fn list(
        &self,
        shelf: (&TenantId, &str),
        window: Window,
        now: UnixTime,
    ) -> Result<Vec<SealedRecord>>;
    /// How much there is of a tenant's kind, what has expired and is still there with it: of so many records at most, the
    /// oldest, so that whoever asks whether a bound is reached looks at no more than it takes to say.
    async fn weight(&self, shelf: (&TenantId, &str), most: u64) -> Result<Weight>;

    /// Compares what is kept with the sum that was left of it under this key, before anything else is done, and keeps the
    /// sum from then on. `Tampered` if a row was removed, put back, moved or changed from outside, or the sum is missing
    /// though it was `kept` before.
    async fn guard(&self, _key: SealingKey, _kept: bool) -> Result<()> {
        Ok(())
    }
    /// How many commits are durable, if they are counted: more with each, and never less at a later start.
    fn generation(&self) -> Option<u64> {
        None
    }
    /// Writes all or nothing. On success the batch is durable, unless it need not be.
    async fn commit(&self, batch: SealedBatch) -> Result<Outcome>;
    /// Entries that are first of their lane and due, longest due first.
    async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<OutboxId>>;
    /// The entry, if it is first of its lane and due.
    async fn entry(&self, id: OutboxId, now: UnixTime) -> Result<Option<SealedEntry>>;
    /// Entries given up.
    async fn dead_letters(&self, window: Window) -> Result<Vec<SealedLetter>>;
    /// Whether there may be something to purge: what has expired, and dead letters older than `before`.
    async fn has_expired(&self, _now: UnixTime, _before: UnixTime) -> Result<bool> {
        Ok(true)
    }
    /// How much waits.
    async fn backlog(&self) -> Result<Backlog>;
    /// Writes all that is kept, as of one moment, into a new file, and there, `mark` on top of it.
    async fn copy(&self, _to: &Path, _mark: SealedBatch) -> Result<()> {
        Err(StoreError::Malformed("copy: nothing is kept in a file"))
    }
    /// Moves what has been committed to the one file that keeps it, if there is one, so that it is whole by itself.
    async fn fold(&self) -> Result<()> {
        Ok(())
    }
    /// What commits have cost.
    fn meter(&self) -> &Meter;
}
