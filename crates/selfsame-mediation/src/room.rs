//! The room that envelopes have: for one peer, and for all of an agent.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::backend::Weight;
use selfsame_store::{Store, TenantId};
use tokio::time::Instant;

use crate::mailbox::Mailbox;
use crate::terms::MediationTerms;

/// How long a measured weight counts. What this process adds meanwhile is added to it.
const MEASURED_FOR: Duration = Duration::from_secs(30);
/// How long the count of a mailbox counts. What this process adds meanwhile is added to it.
const COUNTED_FOR: Duration = Duration::from_secs(5);
/// Mailboxes whose counts are remembered.
const MAILBOXES: usize = 4_096;
/// Agents whose weights are remembered.
const REMEMBERED: usize = 1_024;

/// The weights of the agents' envelopes, measured now and then.
#[derive(Default)]
pub struct EnvelopeRoom(Mutex<HashMap<(TenantId, &'static str), MeasuredWeight>>);

/// A weight, and when it was measured.
#[derive(Clone)]
struct MeasuredWeight {
    weight: Weight,
    at: Instant,
}

impl EnvelopeRoom {
    /// Takes room for one more envelope of this kind.
    ///
    /// # Errors
    /// `Full` if there is no room; the store's.
    pub async fn take(&self, store: &Store, of: RoomOf<'_>, bytes: u64) -> Result<()> {
        let RoomOf {
            tenant,
            kind,
            terms,
        } = of;
        let place = (tenant.clone(), kind);
        let known = self.lock().get(&place).cloned();
        let known = known.filter(|known| known.at.elapsed() < MEASURED_FOR);
        let mut weight = match known {
            Some(known) => known.weight,
            None => {
                let weight = store.weight(tenant, kind, terms.all).await?;
                let at = Instant::now();
                let mut all = self.lock();
                if all.len() >= REMEMBERED {
                    all.clear();
                }
                all.insert(place.clone(), MeasuredWeight { weight, at });
                weight
            }
        };
        weight.records = weight.records.saturating_add(1);
        weight.bytes = weight.bytes.saturating_add(bytes);
        if weight.records > terms.all || weight.bytes > terms.all_bytes {
            return Err(full());
        }
        if let Some(known) = self.lock().get_mut(&place) {
            known.weight.records = known.weight.records.saturating_add(1);
            known.weight.bytes = known.weight.bytes.saturating_add(bytes);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TenantId, &'static str), MeasuredWeight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What waits in each mailbox, counted now and then: an envelope is added without a look at all others.
#[derive(Default)]
pub struct MailboxCounts(Mutex<HashMap<(TenantId, Mailbox), CountedMailbox>>);

/// What waits in a mailbox. What has gone since it was counted is still in it.
#[derive(Clone, Copy, Debug)]
pub struct CountedMailbox {
    /// How many envelopes.
    envelopes: usize,
    /// How many bytes they have.
    bytes: u64,
    at: Instant,
}

impl CountedMailbox {
    /// The count of envelopes with these lengths, now.
    pub fn of(lengths: impl Iterator<Item = u64>) -> Self {
        let empty = Self {
            envelopes: 0,
            bytes: 0,
            at: Instant::now(),
        };
        lengths.fold(empty, Self::with)
    }

    /// The count with one more envelope of this length.
    #[must_use]
    pub fn with(self, bytes: u64) -> Self {
        Self {
            envelopes: self.envelopes.saturating_add(1),
            bytes: self.bytes.saturating_add(bytes),
            at: self.at,
        }
    }

    /// Whether it is within the bounds of a peer.
    pub fn fits(&self, terms: &MediationTerms) -> bool {
        self.envelopes <= terms.each && self.bytes <= terms.each_bytes
    }
}

impl MailboxCounts {
    /// The count of a mailbox, if it was counted lately.
    pub fn known(&self, tenant: &TenantId, mailbox: &Mailbox) -> Option<CountedMailbox> {
        let place = (tenant.clone(), mailbox.clone());
        let known = self.lock().get(&place).copied();
        known.filter(|known| known.at.elapsed() < COUNTED_FOR)
    }

    /// Remembers the count of a mailbox.
    pub fn keep(&self, tenant: &TenantId, mailbox: &Mailbox, counted: CountedMailbox) {
        let mut all = self.lock();
        if all.len() >= MAILBOXES {
            all.clear();
        }
        all.insert((tenant.clone(), mailbox.clone()), counted);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TenantId, Mailbox), CountedMailbox>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose room it is.
#[derive(Clone, Copy)]
pub struct RoomOf<'a> {
    /// The agent.
    pub tenant: &'a TenantId,
    /// The kind of the records.
    pub kind: &'static str,
    /// Its bounds.
    pub terms: &'a MediationTerms,
}

/// No more envelopes can wait.
pub fn full() -> Error {
    Error::new(ErrorKind::Full, "aries-queue-full")
}
