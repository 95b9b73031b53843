//! The outbox: calls that are executed at least once, in order for each destination and subject.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::frame;
use selfsame_crypto::time::UnixTime;

use crate::backend::{OutboxId, SealedEntry, SealedLetter, SealedRecord, Write};
use crate::error::{Result, StoreError};
use crate::tenant::TenantId;
use crate::vault::{TenantKeys, Vault, bound};

/// A call to enqueue.
#[derive(Clone)]
pub struct NewOutbox {
    /// The executor or receiver. Together with `subject` it determines the lane; a lane keeps its order.
    pub destination: String,
    /// The subject of the call.
    pub subject: String,
    /// A key by which the receiver recognises repetitions.
    pub key: String,
    /// The instructions.
    pub payload: Vec<u8>,
    /// The earliest time of execution.
    pub not_before: UnixTime,
}

/// A call to execute.
#[derive(Clone)]
pub struct OutboxEntry {
    /// The identifier.
    pub id: OutboxId,
    /// The tenant of the call.
    pub tenant: TenantId,
    /// The executor or receiver.
    pub destination: String,
    /// The subject of the call.
    pub subject: String,
    /// A key by which the receiver recognises repetitions.
    pub key: String,
    /// The instructions.
    pub payload: Vec<u8>,
    /// The earliest time of execution.
    pub not_before: UnixTime,
    /// The number of times `retry` postponed it.
    pub attempts: u32,
    /// When it was enqueued.
    pub created: UnixTime,
}

impl fmt::Debug for OutboxEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OutboxEntry")
            .field("id", &self.id)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// A call that was given up.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The call.
    pub entry: OutboxEntry,
    /// Why it was given up.
    pub reason: String,
    /// When it was given up.
    pub buried: UnixTime,
    pub(crate) seq: u64,
}

impl DeadLetter {
    /// The cursor of the page after this letter.
    pub fn cursor(&self) -> String {
        self.seq.to_string()
    }
}

/// An entry reserved for one worker of this process while this is held.
///
/// Keep it until the commit that settles, retries or buries the entry has finished. If the process dies, the entry is
/// due again.
#[derive(Debug)]
pub struct Leased {
    pub(crate) entry: OutboxEntry,
    /// Whether this process wrote it last, and so holds it among the processes.
    pub(crate) is_ours: bool,
    pub(crate) _claim: Claim,
}

impl Deref for Leased {
    type Target = OutboxEntry;

    fn deref(&self) -> &OutboxEntry {
        &self.entry
    }
}

/// The entries in work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases(Arc<Mutex<HashSet<OutboxId>>>);

impl Leases {
    pub(crate) fn claim(&self, id: OutboxId) -> Option<Claim> {
        let mut leased = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        leased.insert(id).then(|| Claim {
            id,
            leases: self.clone(),
        })
    }

    pub(crate) fn held(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A cache of entries just written, first in their lanes and not yet claimed. It saves the writer of a call, who
/// executes it too, from reading it back. Claiming or changing an entry removes it, so cached entries are as written.
#[derive(Debug, Default)]
pub(crate) struct Fresh(Mutex<HashMap<OutboxId, SealedEntry>>);

/// The maximum number of entries in the cache; other entries are read back.
const FRESH_MAX: usize = 1_024;

impl Fresh {
    /// Adds entries. Called before the commit, so that no claim comes in between.
    pub(crate) fn keep(&self, writes: &[Write]) {
        for write in writes {
            match write {
                Write::Enqueue(entry) => {
                    let mut fresh = self.held();
                    if fresh.len() < FRESH_MAX {
                        fresh.insert(entry.id, entry.clone());
                    }
                }
                Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) => {
                    self.held().remove(id);
                }
                _ => {}
            }
        }
    }

    /// Of the entries that a commit wrote, keeps only those first in their lanes. Called after the commit.
    pub(crate) fn drop_but(&self, heads: &[OutboxId], written: &[OutboxId]) {
        for id in written {
            if !heads.contains(id) {
                self.held().remove(id);
            }
        }
    }

    pub(crate) fn take(&self, id: OutboxId) -> Option<SealedEntry> {
        self.held().remove(&id)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<OutboxId, SealedEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to work on an entry.
#[derive(Debug)]
pub(crate) struct Claim {
    id: OutboxId,
    leases: Leases,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let leased = self.leases.0.lock();
        leased
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.id);
    }
}

const KIND: &str = "selfsame.outbox";

pub(crate) fn seal(
    keys: &TenantKeys,
    tenant: &TenantId,
    entry: &NewOutbox,
    created: UnixTime,
) -> Result<SealedEntry> {
    let parts = [
        entry.destination.as_bytes(),
        entry.subject.as_bytes(),
        entry.key.as_bytes(),
        &entry.payload,
    ];
    let stamp = keys.stamp();
    let sealed = keys.seal(stamp, &bound(tenant, KIND, "", stamp), &frame::join(&parts))?;
    let lane = keys.lane(&entry.destination, &entry.subject);
    Ok(SealedEntry {
        id: OutboxId(stamp),
        tenant: tenant.clone(),
        lane,
        not_before: entry.not_before,
        attempts: 0,
        created,
        sealed,
    })
}

/// Whether an entry opens, or its tenant is being destroyed; `key` looks up the row with the tenant's key.
///
/// # Errors
/// If it does not open; those of `key`.
pub fn opens(
    vault: &Vault,
    sealed: &SealedEntry,
    key: impl FnOnce() -> Result<Option<SealedRecord>>,
) -> Result<()> {
    match vault.keys_of(&sealed.tenant, key)? {
        Some(keys) => open(&keys, sealed).map(drop),
        None => Ok(()),
    }
}

pub(crate) fn open(keys: &TenantKeys, sealed: &SealedEntry) -> Result<OutboxEntry> {
    let plain = keys.open(
        &bound(&sealed.tenant, KIND, "", sealed.id.0),
        &sealed.sealed,
    )?;
    let damaged = || StoreError::Tampered("outbox entry");
    let parts = frame::split(&plain).ok_or_else(damaged)?;
    let [destination, subject, key, payload] = parts.as_slice() else {
        return Err(damaged());
    };
    let text = |part: &[u8]| String::from_utf8(part.to_vec()).map_err(|_| damaged());
    Ok(OutboxEntry {
        id: sealed.id,
        tenant: sealed.tenant.clone(),
        destination: text(destination)?,
        subject: text(subject)?,
        key: text(key)?,
        payload: payload.to_vec(),
        not_before: sealed.not_before,
        attempts: sealed.attempts,
        created: sealed.created,
    })
}

pub(crate) fn open_letter(keys: &TenantKeys, letter: SealedLetter) -> Result<DeadLetter> {
    Ok(DeadLetter {
        entry: open(keys, &letter.entry)?,
        reason: letter.reason,
        buried: letter.buried,
        seq: letter.seq,
    })
}
