//! Batches: writes that take effect together or not at all.

use selfsame_crypto::time::UnixTime;

use crate::backend::OutboxId;
use crate::outbox::NewOutbox;
use crate::record::{Expect, Put, Record};
use crate::tenant::TenantId;

/// The result of a commit.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Committed {
    /// The enqueued entries, in the order of the batch.
    pub outbox: Vec<OutboxId>,
    /// The versions written, in the order of the batch's puts and updates.
    pub versions: Vec<u64>,
}

/// Writes that take effect together. Each item is written once; conditions are checked against the state before the
/// batch.
#[derive(Clone)]
pub struct Batch {
    tenant: TenantId,
    pub(crate) steps: Vec<(TenantId, BatchStep)>,
    pub(crate) deferred: bool,
}

#[derive(Clone)]
pub(crate) enum BatchStep {
    Expect {
        kind: String,
        id: String,
        expect: Expect,
    },
    Put(Put),
    Update {
        kind: String,
        id: String,
        version: u64,
        value: Vec<u8>,
    },
    Delete {
        kind: String,
        id: String,
    },
    Event {
        kind: String,
        id: String,
    },
    Enqueue(NewOutbox),
    Settle(OutboxId),
    Retry {
        id: OutboxId,
        not_before: UnixTime,
    },
    Bury {
        id: OutboxId,
        reason: String,
    },
    Replay(OutboxId),
}

impl Batch {
    /// The longest reason of a dead letter, in bytes. A longer one is cut.
    pub const REASON_MAX: usize = 500;

    /// An empty batch. Writes added next belong to this tenant.
    pub fn new(tenant: TenantId) -> Self {
        Self {
            tenant,
            steps: Vec::new(),
            deferred: false,
        }
    }

    /// Writes added from here on belong to this tenant.
    #[must_use]
    pub fn for_tenant(mut self, tenant: TenantId) -> Self {
        self.tenant = tenant;
        self
    }

    /// Adds a condition. If it does not hold, nothing of the batch is written.
    #[must_use]
    pub fn expect(self, kind: &str, id: &str, expect: Expect) -> Self {
        self.step(BatchStep::Expect {
            kind: kind.to_owned(),
            id: id.to_owned(),
            expect,
        })
    }

    /// Writes a whole record.
    #[must_use]
    pub fn put(self, put: Put) -> Self {
        self.step(BatchStep::Put(put))
    }

    /// Writes a new value if the record has not changed since it was read. Its tags and expiry stay.
    #[must_use]
    pub fn update(self, kind: &str, read: &Record, value: Vec<u8>) -> Self {
        self.update_version(kind, &read.id, read.version, value)
    }

    /// Writes a new value if the record has this version. Its tags and expiry stay.
    #[must_use]
    pub fn update_version(self, kind: &str, id: &str, version: u64, value: Vec<u8>) -> Self {
        let (kind, id) = (kind.to_owned(), id.to_owned());
        self.step(BatchStep::Update {
            kind,
            id,
            version,
            value,
        })
    }

    /// Deletes a record. Deleting an absent record is not an error.
    #[must_use]
    pub fn delete(self, kind: &str, id: &str) -> Self {
        self.step(BatchStep::Delete {
            kind: kind.to_owned(),
            id: id.to_owned(),
        })
    }

    /// Tells an event of this kind about what has this identifier. Both are stored unencrypted, so they must not
    /// identify a person. Readers see the event once the batch is committed.
    #[must_use]
    pub fn event(self, kind: &str, id: &str) -> Self {
        self.step(BatchStep::Event {
            kind: kind.to_owned(),
            id: id.to_owned(),
        })
    }

    /// Adds a call, which is executed at least once after the commit.
    #[must_use]
    pub fn enqueue(self, entry: NewOutbox) -> Self {
        self.step(BatchStep::Enqueue(entry))
    }

    /// Removes a call that has been executed. A conflict if the entry is no longer pending.
    #[must_use]
    pub fn settle(self, id: OutboxId) -> Self {
        self.step(BatchStep::Settle(id))
    }

    /// Postpones the call until this time.
    #[must_use]
    pub fn retry(self, id: OutboxId, not_before: UnixTime) -> Self {
        self.step(BatchStep::Retry { id, not_before })
    }

    /// Gives up the call: it becomes a dead letter. The reason is stored unencrypted.
    #[must_use]
    pub fn bury(self, id: OutboxId, reason: impl Into<String>) -> Self {
        self.step(BatchStep::Bury {
            id,
            reason: reason.into(),
        })
    }

    /// Makes a dead letter pending again, behind the pending entries with its destination and subject.
    #[must_use]
    pub fn replay(self, id: OutboxId) -> Self {
        self.step(BatchStep::Replay(id))
    }

    /// Adds the writes of another batch, each for its own tenant. This batch decides whether the commit waits for the
    /// disk.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }

    /// Commits without waiting for the disk. The writes are visible at once. They survive a crash or power cut from the
    /// next durable commit on, or after a short time.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// True if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn step(mut self, step: BatchStep) -> Self {
        self.steps.push((self.tenant.clone(), step));
        self
    }
}
