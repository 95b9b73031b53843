//! Batches: everything that is to become true at once, or not at all.

use selfsame_crypto::time::UnixTime;

use crate::backend::OutboxId;
use crate::outbox::NewOutbox;
use crate::record::{Expect, Put, Record};
use crate::tenant::TenantId;

/// What a commit gave.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Committed {
    /// The entries enqueued, in the order of the batch.
    pub outbox: Vec<OutboxId>,
    /// The versions written, in the order of the batch's puts and updates.
    pub versions: Vec<u64>,
}

/// Writes that take effect together, each thing once. Whether it may be written is judged against the state before.
#[derive(Clone)]
pub struct Batch {
    tenant: TenantId,
    pub(crate) steps: Vec<(TenantId, Step)>,
    pub(crate) deferred: bool,
}

#[derive(Clone)]
pub(crate) enum Step {
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
    /// An empty batch; what follows belongs to the tenant.
    pub fn new(tenant: TenantId) -> Self {
        Self {
            tenant,
            steps: Vec::new(),
            deferred: false,
        }
    }

    /// What follows belongs to this tenant.
    #[must_use]
    pub fn for_tenant(mut self, tenant: TenantId) -> Self {
        self.tenant = tenant;
        self
    }

    /// Writes nothing of the batch unless this holds.
    #[must_use]
    pub fn expect(self, kind: &str, id: &str, expect: Expect) -> Self {
        self.step(Step::Expect {
            kind: kind.to_owned(),
            id: id.to_owned(),
            expect,
        })
    }

    /// Writes a record whole.
    #[must_use]
    pub fn put(self, put: Put) -> Self {
        self.step(Step::Put(put))
    }

    /// Expects the record as it was read and gives it a new value; its tags and expiry stay.
    #[must_use]
    pub fn update(self, kind: &str, read: &Record, value: Vec<u8>) -> Self {
        self.update_version(kind, (&read.id, read.version), value)
    }

    /// The same of a record that is known by its version.
    #[must_use]
    pub fn update_version(self, kind: &str, (id, version): (&str, u64), value: Vec<u8>) -> Self {
        let (kind, id) = (kind.to_owned(), id.to_owned());
        self.step(Step::Update {
            kind,
            id,
            version,
            value,
        })
    }

    /// Deletes a record; one that is not there is no error.
    #[must_use]
    pub fn delete(self, kind: &str, id: &str) -> Self {
        self.step(Step::Delete {
            kind: kind.to_owned(),
            id: id.to_owned(),
        })
    }

    /// Adds an effect to be carried out after the commit, at least once.
    #[must_use]
    pub fn enqueue(self, entry: NewOutbox) -> Self {
        self.step(Step::Enqueue(entry))
    }

    /// The effect has been carried out; a conflict if the entry is no longer pending.
    #[must_use]
    pub fn settle(self, id: OutboxId) -> Self {
        self.step(Step::Settle(id))
    }

    /// The effect is to be tried again from that time on.
    #[must_use]
    pub fn retry(self, id: OutboxId, not_before: UnixTime) -> Self {
        self.step(Step::Retry { id, not_before })
    }

    /// The effect is given up and becomes a dead letter. The reason is stored in the clear.
    #[must_use]
    pub fn bury(self, id: OutboxId, reason: impl Into<String>) -> Self {
        self.step(Step::Bury {
            id,
            reason: reason.into(),
        })
    }

    /// Puts a dead letter back, behind what waits for the same destination and subject.
    #[must_use]
    pub fn replay(self, id: OutboxId) -> Self {
        self.step(Step::Replay(id))
    }

    /// Does not wait for the disk: visible at once, and safe from a killed process and a power cut from the next
    /// durable commit on, or after a moment.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// True if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push((self.tenant.clone(), step));
        self
    }
}
