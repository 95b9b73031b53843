//! The outbox: effects that must happen at least once, in order per destination and subject.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;

use crate::backend::{OutboxId, SealedEntry, SealedLetter, Write};
use crate::error::{Result, StoreError};
use crate::frame;
use crate::tenant::TenantId;
use crate::vault::{TenantKeys, bound};

/// An effect to be enqueued.
#[derive(Clone)]
pub struct NewOutbox {
    /// Who carries it out or receives it; with `subject` the lane within which order is kept.
    pub destination: String,
    /// What it is about.
    pub subject: String,
    /// By which the receiver knows it again.
    pub key: String,
    /// What to do.
    pub payload: Vec<u8>,
    /// Not before that time.
    pub not_before: UnixTime,
}

/// An effect to be carried out.
#[derive(Clone)]
pub struct OutboxEntry {
    /// Its identifier.
    pub id: OutboxId,
    /// The tenant whose effect it is.
    pub tenant: TenantId,
    /// Who carries it out or receives it.
    pub destination: String,
    /// What it is about.
    pub subject: String,
    /// By which the receiver knows it again.
    pub key: String,
    /// What to do.
    pub payload: Vec<u8>,
    /// Not before that time.
    pub not_before: UnixTime,
    /// How often it was put off by `retry`.
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

/// An effect that was given up.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The effect.
    pub entry: OutboxEntry,
    /// Why.
    pub reason: String,
    /// When.
    pub buried: UnixTime,
    pub(crate) seq: u64,
}

impl DeadLetter {
    /// Where the page after this letter begins.
    pub fn cursor(&self) -> String {
        self.seq.to_string()
    }
}

/// An entry that nobody else in this process works on while this is held.
///
/// Keep it until the commit that settles, retries or buries the entry is done. It is in memory only: when the
/// process dies, the entry is due again.
#[derive(Debug)]
pub struct Leased {
    entry: OutboxEntry,
    _claim: Claim,
}

impl Leased {
    pub(crate) fn new(entry: OutboxEntry, claim: Claim) -> Self {
        Self {
            entry,
            _claim: claim,
        }
    }
}

impl Deref for Leased {
    type Target = OutboxEntry;

    fn deref(&self) -> &OutboxEntry {
        &self.entry
    }
}

/// The entries somebody works on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases(Arc<Mutex<HashSet<OutboxId>>>);

impl Leases {
    pub(crate) fn claim(&self, id: OutboxId) -> Option<Claim> {
        let fresh = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id);
        fresh.then(|| Claim {
            id,
            leases: self.clone(),
        })
    }

    pub(crate) fn held(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Entries that were written just now and that nobody has claimed since, first of their lanes: whoever writes an effect
/// to carry it out himself need not read it back. Whoever claims or changes an entry takes it out of here, so what is
/// here is as it was written.
#[derive(Debug, Default)]
pub(crate) struct Fresh(Mutex<HashMap<OutboxId, SealedEntry>>);

/// Entries remembered at most; one that is not is read back.
const FRESH_MAX: usize = 1_024;

impl Fresh {
    /// Called before the commit, so that no claim comes in between.
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

    /// Called after the commit with what it wrote, and what of it comes first in its lane.
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
        self.leases
            .0
            .lock()
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
