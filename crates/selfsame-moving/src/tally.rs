//! Counts and hashes of the rows of a tenant, with which a move is proven.

use std::collections::BTreeMap;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_crypto::hash::sum::Sum;
use selfsame_store::backend::KEY_KIND;
use selfsame_store::offline::FileRow;
use serde::Serialize;

use crate::part::{MovedRecord, framed};

/// Which hash this is.
const ROW: &[u8] = b"selfsame tenant record 1";

/// The records of a tenant, counted and hashed by kind. The order does not matter, nor the back end.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RowTally {
    kinds: BTreeMap<String, KindSum>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct KindSum {
    count: u64,
    sum: Sum,
}

/// The records of one kind.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct KindTally {
    /// The kind.
    pub kind: String,
    /// How many there are.
    pub records: u64,
    /// The sum of their hashes, in hexadecimal digits.
    pub hash: String,
}

impl RowTally {
    /// Adds a record by the hash over all that is stored of it: kind, identifier, version, expiry, tags and sealed value.
    pub fn add(&mut self, record: &MovedRecord) {
        let element = hash::sha256(&framed(ROW, record));
        let kind = self.kinds.entry(record.kind.clone()).or_default();
        kind.count = kind.count.saturating_add(1);
        kind.sum = kind.sum.plus(Sum::of(&element).unwrap_or_default());
    }

    /// The number of all records.
    #[must_use]
    pub fn count(&self) -> u64 {
        let counts = self.kinds.values().map(|kind| kind.count);
        counts.fold(0, u64::saturating_add)
    }

    /// The sum of the hashes of all records.
    #[must_use]
    pub fn sum(&self) -> Sum {
        let sums = self.kinds.values().map(|kind| kind.sum);
        sums.fold(Sum::default(), Sum::plus)
    }

    /// The same in hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        hex_encode(&self.sum().to_bytes())
    }

    /// The counts and the hashes by kind.
    #[must_use]
    pub fn kinds(&self) -> Vec<KindTally> {
        let kinds = self.kinds.iter().map(|(kind, tally)| KindTally {
            kind: kind.clone(),
            records: tally.count,
            hash: hex_encode(&tally.sum.to_bytes()),
        });
        kinds.collect()
    }

    /// What differs from the records that are there, if anything does.
    #[must_use]
    pub fn difference(&self, there: &Self) -> Option<String> {
        let names = self.kinds.keys().chain(there.kinds.keys());
        let of = |tally: &Self, kind| tally.kinds.get(kind).copied().unwrap_or_default();
        names.into_iter().find_map(|kind| {
            let (wanted, found) = (of(self, kind), of(there, kind));
            if wanted.count != found.count {
                let (wanted, found) = (wanted.count, found.count);
                return Some(format!(
                    "of the kind {kind:?} there are {found}, not {wanted}"
                ));
            }
            (wanted.sum != found.sum)
                .then(|| format!("a record of the kind {kind:?} has other content"))
        })
    }
}

/// The record of a row, unless it is a tenant's key or no record.
pub(crate) fn moved(row: FileRow) -> Option<MovedRecord> {
    match row {
        FileRow::Record(place, sealed, tags) if place.kind != KEY_KIND => {
            Some(MovedRecord::of(place.kind, sealed, tags))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
