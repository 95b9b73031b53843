//! The indices from the first bytes of a key's digest to the state value. New entries go to a small index, and are
//! moved from there to the large one in digest order.
//!
//! Digests are evenly distributed, so each value put directly into the large index would change a different page.

use rusqlite::{Row, Transaction, params};

use super::nodes::Pace;
use crate::error::Result;
use crate::sqlite::sql;

pub(super) const SCHEMA: &str = "
CREATE TABLE places (
    start INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (start, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE recent (
    start INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (start, id)
) STRICT, WITHOUT ROWID;
";

/// The small index may hold this fraction of all entries, or more if blocks are large.
const RECENT_PART: u64 = 32;
/// The number of entries moved in a block without transactions.
const MOVED_AT_REST: u64 = 16_384;

/// Statistics of the indices in the file.
pub(super) struct Places {
    /// The number of entries in the small index.
    recent: u64,
    /// The number of all entries.
    all: u64,
    /// The digest beginning where moving continues.
    from: i64,
}

impl Places {
    /// Counts the entries in the file.
    pub(super) fn count(connection: &rusqlite::Connection) -> Result<Self> {
        let count = |query| -> Result<u64> {
            let counted: i64 = connection.query_row(query, [], |row| row.get(0))?;
            Ok(counted.cast_unsigned())
        };
        Ok(Self {
            recent: count("SELECT count(*) FROM recent")?,
            all: count("SELECT coalesce(max(id), 0) FROM state")?,
            from: i64::MIN,
        })
    }

    /// Adds a block's new values, by the beginnings of their digests, and moves entries as far as the pace permits.
    /// After an error the entries must be counted anew.
    pub(super) fn add(
        &mut self,
        transaction: &Transaction<'_>,
        mut new: Vec<(i64, i64)>,
        pace: Pace,
    ) -> Result<()> {
        // In digest order, so that entries on one page are written together.
        new.sort_unstable();
        put(transaction, "recent", &new)?;
        let added = new.len() as u64;
        self.recent = self.recent.saturating_add(added);
        self.all = self.all.saturating_add(added);
        match pace {
            Pace::Busy => {
                let over = self.recent.saturating_sub(self.bound(added));
                self.advance(transaction, over.min(added.saturating_mul(2)))
            }
            Pace::Idle | Pace::Resting => {
                self.from = i64::MIN;
                self.advance(transaction, MOVED_AT_REST)
            }
        }
    }

    /// The maximum size of the small index if a block adds `added` entries. A block changes pages of the small index
    /// and, by moving as many entries, of the large one. At the square root the total number of pages is lowest.
    fn bound(&self, added: u64) -> u64 {
        let fewest = added.saturating_mul(self.all).isqrt();
        fewest.max(self.all / RECENT_PART)
    }

    /// Moves the next entries, at most `most`.
    fn advance(&mut self, transaction: &Transaction<'_>, most: u64) -> Result<()> {
        if most == 0 || self.recent == 0 {
            return Ok(());
        }
        let next = "SELECT start, id FROM recent WHERE start >= ?1 ORDER BY start, id LIMIT ?2";
        let mut next = transaction.prepare_cached(next)?;
        let pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let next = next.query_map([self.from, sql(most)], pair)?;
        let next: Vec<(i64, i64)> = next.collect::<rusqlite::Result<_>>()?;
        if let Some((start, id)) = next.last() {
            put(transaction, "places", &next)?;
            let drop =
                "DELETE FROM recent WHERE start >= ?1 AND start <= ?2 AND (start, id) <= (?2, ?3)";
            let mut drop = transaction.prepare_cached(drop)?;
            drop.execute(params![self.from, start, id])?;
            self.from = *start;
        }
        let moved = next.len() as u64;
        if moved < most {
            self.from = i64::MIN;
        }
        self.recent = self.recent.saturating_sub(moved);
        Ok(())
    }
}

fn put(transaction: &Transaction<'_>, table: &str, sorted: &[(i64, i64)]) -> Result<()> {
    let put = format!("INSERT INTO {table} (start, id) VALUES (?1, ?2)");
    let mut put = transaction.prepare_cached(&put)?;
    for (start, id) in sorted {
        put.execute([start, id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    fn file() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection
            .execute_batch("CREATE TABLE state (id INTEGER PRIMARY KEY)")
            .unwrap();
        connection
    }

    fn all(connection: &Connection, table: &str) -> Vec<(i64, i64)> {
        let query = format!("SELECT start, id FROM {table} ORDER BY start, id");
        let mut query = connection.prepare(&query).unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }

    fn pace(number: u8) -> Pace {
        match number {
            0 => Pace::Idle,
            1 => Pace::Resting,
            _ => Pace::Busy,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_value_has_one_place_whenever_it_is_moved(
            // Few different beginnings, so that several values share one.
            blocks in prop::collection::vec((prop::collection::vec(-20_i64..20, 0..60), 0_u8..8), 1..40),
            reopened in 0_usize..40,
        ) {
            let mut connection = file();
            let mut places = Places::count(&connection).unwrap();
            let (mut expected, mut id) = (BTreeSet::new(), 0);
            for (number, (starts, paced)) in blocks.into_iter().enumerate() {
                if number == reopened {
                    places = Places::count(&connection).unwrap();
                    places.all = expected.len() as u64;
                }
                let new: Vec<(i64, i64)> = starts.into_iter().map(|start| { id += 1; (start, id) }).collect();
                expected.extend(new.iter().copied());
                let transaction = connection.transaction().unwrap();
                places.add(&transaction, new, pace(paced)).unwrap();
                transaction.commit().unwrap();
                let (large, small) = (all(&connection, "places"), all(&connection, "recent"));
                prop_assert_eq!(places.recent, small.len() as u64);
                prop_assert_eq!(large.len() + small.len(), expected.len());
                let found: BTreeSet<_> = large.into_iter().chain(small).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    #[test]
    fn the_small_index_stays_small_and_is_empty_at_rest() {
        let mut connection = file();
        let mut places = Places::count(&connection).unwrap();
        let (mut id, mut digest) = (0, 1_i64);
        for _ in 0..400 {
            let next = || {
                id += 1;
                digest = digest
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (digest, id)
            };
            let new: Vec<(i64, i64)> = std::iter::repeat_with(next).take(100).collect();
            let transaction = connection.transaction().unwrap();
            places.add(&transaction, new, Pace::Busy).unwrap();
            transaction.commit().unwrap();
            assert!(
                places.recent <= places.bound(100) + 100,
                "{}",
                places.recent
            );
        }
        assert!(places.recent > 0);
        let transaction = connection.transaction().unwrap();
        places.add(&transaction, Vec::new(), Pace::Idle).unwrap();
        transaction.commit().unwrap();
        assert!(all(&connection, "recent").is_empty());
        assert_eq!(all(&connection, "places").len(), 40_000);
    }
}
