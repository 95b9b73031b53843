//! The interface to back ends. They store data that is already sealed and hashed.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::seal::master::KeyCheck;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};
pub use crate::meter::Meter;
use crate::record::Expect;
pub use crate::record::{Window, sql};
use crate::tenant::TenantId;

/// The file with the records of an instance, in its data directory and in a backup.
pub const STORE_FILE: &str = "store.sqlite";

/// The kind of the records that hold the tenants' keys.
pub const KEY_KIND: &str = "selfsame.key";

/// The kind of the record that lists the master keys that the tenants' keys are wrapped under.
pub const LIST_KIND: &str = "selfsame.master-keys";

/// How long a dead letter is kept before [`crate::Store::purge_expired`] removes it, in seconds.
pub const DEAD_LETTER_SECONDS: u64 = 30 * 24 * 60 * 60;

/// How long an event is kept before [`crate::Store::purge_expired`] removes it, in seconds.
pub const EVENT_SECONDS: u64 = 7 * 24 * 60 * 60;

/// The number of events kept. Older ones are removed when new ones are written, this number of them at a time.
pub const EVENTS_MAX: u64 = 100_000;
pub(crate) const EVENTS_BITE: u64 = 64;

/// Identifies an outbox entry; unique in the instance.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct OutboxId(pub u64);

impl fmt::Display for OutboxId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The key of a record.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// The tenant.
    pub tenant: TenantId,
    /// The kind.
    pub kind: String,
    /// The identifier.
    pub id: String,
}

/// A record as stored.
#[derive(Clone, Debug)]
pub struct SealedRecord {
    /// The identifier.
    pub id: String,
    /// The sequence number, in order of insertion.
    pub seq: u64,
    /// The version. The sealed value is bound to it.
    pub version: u64,
    /// The time from which it reads as absent.
    pub expires: Option<UnixTime>,
    /// The sealed value.
    pub value: Vec<u8>,
}

/// An outbox entry as stored.
#[derive(Clone, Debug)]
pub struct SealedEntry {
    /// The identifier, unique in the instance.
    pub id: OutboxId,
    /// The tenant whose key sealed it.
    pub tenant: TenantId,
    /// A keyed hash of destination and subject. The entries of a lane are executed one after the other.
    pub lane: [u8; 16],
    /// The earliest time of execution.
    pub not_before: UnixTime,
    /// The number of retries.
    pub attempts: u32,
    /// When it was enqueued.
    pub created: UnixTime,
    /// The remaining fields, sealed.
    pub sealed: Vec<u8>,
}

/// A dead letter as stored.
#[derive(Clone, Debug)]
pub struct SealedLetter {
    /// The entry.
    pub entry: SealedEntry,
    /// The sequence number, in order of burial.
    pub seq: u64,
    /// Why the entry was given up.
    pub reason: String,
    /// When the entry was given up.
    pub buried: UnixTime,
}

/// An event as stored. It is not sealed: like the key of a record, it must not identify a person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredEvent {
    /// Its tenant, its kind, and the identifier of what it is about.
    pub place: Place,
    /// When it was committed.
    pub at: UnixTime,
    /// The position. It grows by one with each event, and the newest event is never removed.
    pub seq: u64,
    /// Distinguishes the event from one that had this position before a deferred commit was lost or a backup restored.
    pub stamp: u64,
}

/// One write of a batch.
#[derive(Clone, Debug)]
pub enum Write {
    /// A condition. All conditions are checked before any other write.
    Expect(Place, Expect),
    /// Writes a whole record.
    Put {
        /// The key of the record.
        place: Place,
        /// The new version.
        version: u64,
        /// The sealed value.
        value: Vec<u8>,
        /// The tag keys, sorted and without duplicates.
        tags: Vec<Vec<u8>>,
        /// The time from which it reads as absent.
        expires: Option<UnixTime>,
    },
    /// Writes a new value of a record whose version is among the conditions.
    Update {
        /// The key of the record.
        place: Place,
        /// The new version.
        version: u64,
        /// The sealed value.
        value: Vec<u8>,
    },
    /// Deletes a record.
    Delete(Place),
    /// Adds a new entry at the end of its lane.
    Enqueue(SealedEntry),
    /// Removes a pending entry that has been executed.
    Settle(OutboxId),
    /// Postpones a pending entry until this time.
    Retry(OutboxId, UnixTime),
    /// Makes a pending entry a dead letter, with this reason.
    Bury(OutboxId, String),
    /// Makes a dead letter the last pending entry of its lane.
    Replay(OutboxId),
    /// Tells an event, which gets the next position. The number is its stamp.
    Event(Place, u64),
    /// Raises a counter by this amount.
    Reserve(TenantId, String, u64),
    /// Raises every counter by this amount.
    Leap(u64),
    /// Removes expired records, old dead letters and old events, at most this number of each. The newest event stays.
    Purge(usize),
    /// Removes records of a tenant, of all kinds but those kept; at most the limit. If no kinds are given, also removes its
    /// key, its counters, and as many of its outbox entries. What is removed is overwritten in the file.
    Erase {
        /// The tenant.
        tenant: TenantId,
        /// The kinds that stay.
        keep: Option<Vec<String>>,
        /// The maximum number of records to remove, and of entries.
        limit: usize,
    },
}

/// Whether an erasure leaves records of this kind.
pub fn stays(kind: &str, keep: Option<&[String]>) -> bool {
    keep.is_some_and(|keep| kind == KEY_KIND || keep.iter().any(|kept| kept == kind))
}

/// Writes that take effect together.
#[derive(Clone, Debug)]
pub struct SealedBatch {
    /// The time at which the batch was made.
    pub now: UnixTime,
    /// False if the commit need not wait for the disk.
    pub durable: bool,
    /// The writes.
    pub writes: Vec<Write>,
}

/// The result of a batch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BatchOutcome {
    /// The reserved counter ranges, in the order of the batch.
    pub reserved: Vec<Range<u64>>,
    /// The number of rows that were purged or erased.
    pub purged: u64,
    /// The enqueued entries that are first in their lane.
    pub heads: Vec<OutboxId>,
}

/// What waits in the outbox.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Backlog {
    /// Pending entries.
    pub pending: u64,
    /// Dead letters.
    pub dead: u64,
    /// When the oldest entry was enqueued, of those that are first in their lane.
    pub oldest: Option<UnixTime>,
}

/// The size of a set of records.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Weight {
    /// The number of records.
    pub records: u64,
    /// The total length of their sealed values in bytes.
    pub bytes: u64,
}

/// Stores sealed records, the outbox and counters. A read sees every commit that was acknowledged before it.
#[async_trait]
pub trait Backend: Send + Sync {
    /// The record at `place`, unless absent or expired.
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>>;
    /// The version of the record at `place`, unless absent or expired.
    async fn version(&self, place: &Place, now: UnixTime) -> Result<Option<u64>> {
        let record = self.read(place, now).await?;
        Ok(record.map(|record| record.version))
    }
    /// The records with a tag key.
    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>>;
    /// The records of one kind of a tenant.
    async fn list(
        &self,
        tenant: &TenantId,
        kind: &str,
        window: Window,
        now: UnixTime,
    ) -> Result<Vec<SealedRecord>>;
    /// The rows with tenants' keys, at most `limit`, in the order of the tenants' names, of those after `after`.
    async fn keys(&self, after: &str, limit: usize) -> Result<Vec<(TenantId, SealedRecord)>>;
    /// Notes for the other processes that this one reads under a master key.
    async fn reads_under(&self, _check: KeyCheck) -> Result<()> {
        Ok(())
    }
    /// The number of live processes that have not noted that they read under this master key.
    async fn unready(&self, _check: KeyCheck) -> Result<u64> {
        Ok(0)
    }
    /// The size of one kind of a tenant. Expired records that have not been purged count as well. Only the `most`
    /// oldest records are counted, so checking a limit costs no more than the limit.
    async fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<Weight>;

    /// The number of records of one kind of a tenant, as [`Self::weight`] counts them, up to `most`. It reads no record,
    /// so it costs less than their weight.
    async fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<u64>;

    /// Compares the data with the keyed sum stored under this key, before anything else is done, and maintains the sum
    /// from then on. `Tampered` if a row was removed, restored, moved or changed from outside, or if the sum is missing
    /// although it was `kept` before.
    async fn guard(&self, _key: SealingKey, _kept: bool) -> Result<()> {
        Ok(())
    }
    /// The number of durable commits, if they are counted. It grows with each commit and never shrinks, across restarts
    /// too.
    fn generation(&self) -> Option<u64> {
        None
    }
    /// Writes all or nothing. On success the batch is durable, unless it is deferred.
    async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome>;
    /// Due entries that are first in their lane, those due longest first.
    async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<OutboxId>>;
    /// The entry, if it is due and first in its lane.
    async fn entry(&self, id: OutboxId, now: UnixTime) -> Result<Option<SealedEntry>>;
    /// Takes an entry for this process; false if another live process has it.
    async fn hold(&self, _id: OutboxId) -> Result<bool> {
        Ok(true)
    }
    /// Whether other processes may use the records at the same time.
    fn is_shared(&self) -> bool {
        false
    }
    /// Whether reads and commits would be answered now. What keeps its data in this process always answers.
    async fn answers(&self) -> bool {
        true
    }
    /// The dead letters.
    async fn dead_letters(&self, window: Window) -> Result<Vec<SealedLetter>>;
    /// The events.
    async fn events(&self, window: Window) -> Result<Vec<StoredEvent>>;
    /// Whether there may be something to purge: expired records, old dead letters, or old events.
    async fn has_expired(&self, _now: UnixTime) -> Result<bool> {
        Ok(true)
    }
    /// The number of entries in the outbox.
    async fn backlog(&self) -> Result<Backlog>;
    /// Writes a snapshot of all data to a new file, and applies `mark` to that file.
    async fn copy(&self, _to: &Path, _mark: SealedBatch) -> Result<()> {
        Err(StoreError::Malformed("copy: nothing is kept in a file"))
    }
    /// Moves committed data from the log to the main file, if there is one, so that this file is complete on its own.
    async fn fold(&self) -> Result<()> {
        Ok(())
    }
    /// Statistics of the commits.
    fn meter(&self) -> &Meter;
}
