//! A small cache of recently written records, checked by version.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_store::{Committed, Record, Store, TenantId};
use serde::de::DeserializeOwned;

use super::decode;
use crate::Result;

/// Maximum number of records held; the oldest is dropped first.
const HELD_MAX: usize = 64;

/// The requests of one flow follow each other closely, and each reads what the one before has written. This cache saves
/// parsing that record from JSON again. The store gives each version number once, so a held record with the version
/// that was read is that record.
pub struct RecordCache<T>(Mutex<VecDeque<(u64, T)>>);

impl<T> Default for RecordCache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: DeserializeOwned> RecordCache<T> {
    /// Holds the last record that a commit wrote.
    pub fn hold(&self, committed: &Committed, written: T) {
        if let Some(version) = committed.versions.last() {
            self.keep(*version, written);
        }
    }

    /// Holds the contents of the record of this version.
    pub fn keep(&self, version: u64, record: T) {
        let mut held = self.held();
        if held.len() >= HELD_MAX {
            held.pop_front();
        }
        held.push_back((version, record));
    }

    /// The record at this place and its version, unless absent or expired. A held record is not read again. The record
    /// leaves the cache: the caller owns it.
    ///
    /// # Errors
    /// The store's, and those of [`Self::read`].
    pub async fn find(
        &self,
        store: &Store,
        tenant: &TenantId,
        kind: &str,
        id: &str,
    ) -> Result<Option<(T, u64)>> {
        let Some(version) = store.version(tenant, kind, id).await? else {
            return Ok(None);
        };
        if let Some(held) = self.take(version) {
            return Ok(Some((held, version)));
        }
        let Some(record) = store.read(tenant, kind, id).await? else {
            return Ok(None);
        };
        Ok(Some((self.read(&record)?, record.version)))
    }

    /// The contents of the record. They leave the cache: the caller owns them.
    ///
    /// # Errors
    /// `Internal` for a value that this version of the program cannot decode.
    pub fn read(&self, record: &Record) -> Result<T> {
        match self.take(record.version) {
            Some(held) => Ok(held),
            None => decode(&record.value),
        }
    }

    fn take(&self, version: u64) -> Option<T> {
        let mut held = self.held();
        let place = held.iter().position(|(known, _)| *known == version)?;
        held.remove(place).map(|(_, held)| held)
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<(u64, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: u64, value: &str) -> Record {
        Record {
            id: "id".to_owned(),
            value: value.as_bytes().to_vec(),
            version,
            expires: None,
            seq: 1,
        }
    }

    fn committed(version: u64) -> Committed {
        Committed {
            outbox: Vec::new(),
            versions: vec![0, version],
        }
    }

    #[test]
    fn what_was_written_is_taken_once_and_by_its_version_alone() {
        let at_hand = RecordCache::<String>::default();
        at_hand.hold(&committed(7), "held".to_owned());
        assert_eq!(at_hand.read(&record(8, "\"other\"")).unwrap(), "other");
        assert_eq!(at_hand.read(&record(7, "\"kept\"")).unwrap(), "held");
        assert_eq!(at_hand.read(&record(7, "\"kept\"")).unwrap(), "kept");
        assert!(at_hand.read(&record(9, "{")).is_err());
    }

    #[test]
    fn no_more_is_held_than_the_bound_and_the_newest_of_it() {
        let at_hand = RecordCache::<u64>::default();
        for version in 1..=3 * HELD_MAX as u64 {
            at_hand.hold(&committed(version), version);
        }
        assert_eq!(at_hand.held().len(), HELD_MAX);
        assert_eq!(at_hand.take(1), None);
        assert_eq!(at_hand.take(3 * HELD_MAX as u64), Some(3 * HELD_MAX as u64));
    }
}
