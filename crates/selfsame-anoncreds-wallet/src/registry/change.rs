//! What changes a registry, and how its record changes: pure.
//!
//! Places to revoke go through three sets: `pending` waits for somebody's word, `queued` for the transaction before it,
//! `writing` for the ledger's answer. A place leaves a set only into the next one, or because the ledger has it as
//! revoked, so that a cut at any moment loses none and revokes none twice: each entry names the accumulator before it,
//! and the ledger takes one entry after each.

use std::collections::BTreeSet;

use selfsame_core::machine::CallAnswer;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::anoncreds::RevocationState;
use selfsame_registry::{Receipt, Transaction};

use super::record::{RegistryRecord, RegistryStage};
use crate::endorsing::is_the_awaited;

/// Places of one entry at most, so that its transaction stays within the ledger's limit.
const ENTRY_MAX: usize = 4_096;

/// What a registry's record is told.
pub(crate) enum RegistryInput {
    /// The answer to its call.
    Heard(CallAnswer),
    /// What somebody decides.
    Change(RegistryChange),
}

/// What somebody decides about a registry.
#[derive(Clone, Debug)]
pub(crate) enum RegistryChange {
    /// To revoke these places, at once or when they are published.
    Revoke { places: BTreeSet<u32>, now: bool },
    /// To publish the pending ones among these places, or all.
    Publish(Option<BTreeSet<u32>>),
    /// To revoke the pending ones among these places, or all, after all not.
    Clear(Option<BTreeSet<u32>>),
    /// To give out no more places.
    Close(RegistryStage),
    /// To try its publication again.
    Again,
    /// To publish it by the transaction that its endorser has signed.
    Endorsed(Box<Transaction>),
}

/// What follows from a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Following {
    /// Nothing.
    Nothing,
    /// The keys and the tails are to be made.
    Making,
    /// The endorsed transaction is to be written.
    Publishing,
    /// An entry is to be made of what is queued.
    Entry,
    /// An entry is to be made in the next second.
    Soon,
    /// What is queued is tried again later.
    Later,
}

impl From<CallAnswer> for RegistryInput {
    fn from(answer: CallAnswer) -> Self {
        Self::Heard(answer)
    }
}

impl RegistryRecord {
    /// Changes by an input at a time. `seen` is what the ledger has, if a transaction was refused.
    ///
    /// # Errors
    /// `BadRequest` for a place that the registry does not have, `Conflict` for a registry that is not published.
    pub fn changed(
        &mut self,
        input: &RegistryInput,
        seen: Option<&RevocationState>,
        now: UnixTime,
    ) -> Result<Following> {
        match input {
            RegistryInput::Change(RegistryChange::Endorsed(endorsed)) => {
                return self.endorsed(endorsed, now);
            }
            RegistryInput::Change(change) => {
                self.decided(change)?;
                if !self.queued.is_empty() {
                    self.unwritten_since.get_or_insert(now);
                }
            }
            RegistryInput::Heard(CallAnswer::Finished) => {
                if self.stage == RegistryStage::Preparing {
                    return Ok(Following::Making);
                }
            }
            RegistryInput::Heard(CallAnswer::Accepted(receipt)) => self.accepted(receipt, now),
            RegistryInput::Heard(CallAnswer::Refused(error)) => {
                return Ok(self.refused(error, seen, now));
            }
            RegistryInput::Heard(CallAnswer::Http { .. } | CallAnswer::Unreachable { .. }) => {
                return Ok(Following::Nothing);
            }
        }
        Ok(self.following(now))
    }

    /// What the ledger has of this registry, if it differs, becomes what is confirmed.
    pub fn adopt(&mut self, seen: &RevocationState) {
        self.entries = seen.version;
        self.accumulator.clone_from(&seen.accumulator);
        self.changed = seen.receipt.time;
        self.revoked = (1..self.size)
            .filter(|place| is_set(&seen.revoked, *place))
            .collect();
        let revoked = &self.revoked;
        self.pending.retain(|place| !revoked.contains(place));
        self.queued.retain(|place| !revoked.contains(place));
    }

    /// The places of the next entry.
    pub fn next_entry(&self) -> BTreeSet<u32> {
        self.queued.iter().copied().take(ENTRY_MAX).collect()
    }

    /// Whether a place is revoked, or is on its way to be.
    pub fn is_revoking(&self, place: u32) -> bool {
        let sent = self.writing.as_ref().map(|sent| &sent.revoked);
        self.revoked.contains(&place)
            || self.queued.contains(&place)
            || sent.is_some_and(|sent| sent.contains(&place))
    }

    /// Since when the ledger's answer is awaited.
    pub fn waiting_since(&self) -> Option<UnixTime> {
        self.writing.as_ref().map(|sent| sent.since)
    }

    /// The places that the ledger is being told, or will be with the next transaction.
    pub fn unwritten(&self) -> BTreeSet<u32> {
        let sent = self.writing.iter().flat_map(|sent| &sent.revoked);
        sent.chain(&self.queued).copied().collect()
    }

    /// A proof names the entry that it is made with by its time in seconds, so each second has one entry at most.
    fn following(&self, now: UnixTime) -> Following {
        match self.writing.is_none() && !self.queued.is_empty() && self.is_published() {
            true if now > self.changed.max(self.heard) => Following::Entry,
            true => Following::Soon,
            false => Following::Nothing,
        }
    }

    fn decided(&mut self, change: &RegistryChange) -> Result<()> {
        match change {
            RegistryChange::Revoke { places, now } => {
                for place in places {
                    self.revoke(*place, *now)?;
                }
            }
            RegistryChange::Publish(places) => {
                let published = self.among_pending(places.as_ref());
                for place in published {
                    self.revoke(place, true)?;
                }
            }
            RegistryChange::Clear(places) => {
                for place in self.among_pending(places.as_ref()) {
                    self.pending.remove(&place);
                }
            }
            RegistryChange::Close(stage) => {
                if self.is_open() {
                    self.stage = stage.clone();
                }
            }
            RegistryChange::Again => {
                if matches!(self.stage, RegistryStage::Failed(_)) {
                    self.stage = RegistryStage::Preparing;
                }
            }
            RegistryChange::Endorsed(_) => {}
        }
        Ok(())
    }

    /// What the ledger had refused is sent again, since the endorser may have got its role since.
    fn endorsed(&mut self, endorsed: &Transaction, now: UnixTime) -> Result<Following> {
        match self.stage {
            RegistryStage::Endorsing | RegistryStage::Failed(_) => {
                is_the_awaited(self.authored.as_ref(), endorsed)?;
                self.stage = RegistryStage::Sending;
                Ok(Following::Publishing)
            }
            _ => Ok(self.following(now)),
        }
    }

    fn revoke(&mut self, place: u32, now: bool) -> Result<()> {
        if !self.is_published() {
            return Err(Error::new(
                ErrorKind::Conflict,
                "anoncreds-registry-unready",
            ));
        }
        if !(1..self.size).contains(&place) {
            return Err(Error::bad_request("anoncreds-place-absent").with("place", &place));
        }
        if self.is_revoking(place) {
            return Ok(());
        }
        match now {
            true => {
                self.pending.remove(&place);
                self.queued.insert(place);
            }
            false => {
                self.pending.insert(place);
            }
        }
        Ok(())
    }

    fn among_pending(&self, places: Option<&BTreeSet<u32>>) -> Vec<u32> {
        let is_meant = |place: &u32| places.is_none_or(|places| places.contains(place));
        self.pending.iter().copied().filter(is_meant).collect()
    }

    fn accepted(&mut self, receipt: &Receipt, now: UnixTime) {
        (self.refused, self.heard) = (None, now);
        if self.stage == RegistryStage::Sending {
            self.stage = RegistryStage::Ready;
            (self.entries, self.changed) = (1, receipt.time);
        } else if let Some(sent) = self.writing.take() {
            self.accumulator = sent.after;
            self.revoked.extend(sent.revoked);
            self.unwritten_since = (!self.queued.is_empty()).then_some(now);
            self.entries = self.entries.saturating_add(1);
            self.changed = receipt.time;
        }
    }

    fn refused(
        &mut self,
        error: &Error,
        seen: Option<&RevocationState>,
        now: UnixTime,
    ) -> Following {
        self.refused = Some(error.reason.clone());
        let Some(sent) = self.writing.take() else {
            if !self.is_published() {
                self.stage = RegistryStage::Failed(error.reason.clone());
            }
            return Following::Nothing;
        };
        self.queued.extend(sent.revoked);
        match seen.filter(|seen| seen.accumulator != self.accumulator) {
            // The ledger has entries that were not known here, such as after a backup was restored.
            Some(seen) => {
                self.adopt(seen);
                self.following(now)
            }
            None => Following::Later,
        }
    }
}

/// Whether the bit of a place is set: the first place is the highest bit of the first byte.
fn is_set(bits: &[u8], place: u32) -> bool {
    let byte = usize::try_from(place >> 3).ok();
    let byte = byte.and_then(|byte| bits.get(byte));
    byte.is_some_and(|byte| byte & (0x80 >> (place & 7)) != 0)
}
