//! A census of the rows: how many there are of each table and kind, with a hash of them all. What copies rows or lays
//! them out anew takes one before and one after, and keeps its work only if they are the same.

use std::collections::BTreeMap;
use std::error::Error;

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::hash::sum::Sum;
use selfsame_crypto::{encoding, frame};
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use crate::failure::DatabaseResult;
use crate::pool::stream;

/// The columns of the rows of a table, after one that tells the kind.
#[derive(Clone, Copy)]
pub(crate) struct CensusRows {
    pub(crate) table: &'static str,
    pub(crate) statement: &'static str,
}

/// What was counted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Census(BTreeMap<(&'static str, String), Counted>);

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Counted {
    rows: u64,
    hashes: Sum,
}

/// The rows of one table and kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowCount {
    /// The table.
    pub table: &'static str,
    /// The kind of the records; empty in other tables.
    pub kind: String,
    /// The number of rows.
    pub rows: u64,
    /// The sum of the rows' SHA-256, in hexadecimal digits.
    pub hash: String,
}

impl Census {
    /// Counts a row. The order of rows does not matter.
    pub(crate) fn add(&mut self, table: &'static str, kind: &str, columns: &[Option<&[u8]>]) {
        let mut framed = Vec::new();
        for column in columns {
            frame::add(&mut framed, &[u8::from(column.is_some())]);
            frame::add(&mut framed, column.unwrap_or_default());
        }
        let counted = self.0.entry((table, kind.to_owned())).or_default();
        counted.rows = counted.rows.saturating_add(1);
        let hash = Sum::of(&sha256(&framed)).unwrap_or_default();
        counted.hashes = counted.hashes.plus(hash);
    }

    /// Counts the rows that the index of tags has for a record with these.
    pub(crate) fn add_tags(&mut self, tags: &[u8], seq: u64, place: Uuid) {
        for tag in frame::split(tags).unwrap_or_default() {
            let columns = [Some(tag), Some(&seq.to_be_bytes()), Some(place.as_bytes())];
            self.add("tags", "", &columns);
        }
    }

    /// Where this census and a later one differ first, for the operator.
    pub(crate) fn difference(&self, after: &Self) -> Option<String> {
        let none = Counted::default();
        let of = |census: &Self, name| *census.0.get(name).unwrap_or(&none);
        let mut names = self.0.keys().chain(after.0.keys());
        let name = names.find(|name| of(self, name) != of(after, name))?;
        let (before, after) = (of(self, name).rows, of(after, name).rows);
        let what = match name {
            (table, kind) if kind.is_empty() => format!("rows of {table}"),
            (table, kind) => format!("{table} of the kind {kind}"),
        };
        Some(match before == after {
            true => format!("{what}: {before}, and not the same ones"),
            false => format!("{what}: {before} before, {after} after"),
        })
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.0.values().map(|counted| counted.rows).sum()
    }

    /// The counts, in the order of tables and kinds.
    pub(crate) fn counts(&self) -> Vec<RowCount> {
        let counts = self.0.iter().map(|((table, kind), counted)| RowCount {
            table,
            kind: kind.clone(),
            rows: counted.rows,
            hash: encoding::hex_encode(&counted.hashes.to_bytes()),
        });
        counts.collect()
    }
}

/// Counts the rows in the database.
pub(crate) async fn census(client: &Client, tables: &[CensusRows]) -> DatabaseResult<Census> {
    let mut census = Census::default();
    for rows in tables {
        let found = stream(client, rows.statement).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.try_next().await? {
            let mut columns = Vec::with_capacity(row.len());
            for column in 1..row.len() {
                let column: Option<ColumnBytes<'_>> = row.try_get(column)?;
                columns.push(column.map(|ColumnBytes(bytes)| bytes));
            }
            census.add(rows.table, row.try_get(0)?, &columns);
        }
    }
    Ok(census)
}

/// A column of any type, as the database sends it: numbers with the most significant byte first.
struct ColumnBytes<'a>(&'a [u8]);

impl<'a> FromSql<'a> for ColumnBytes<'a> {
    fn from_sql(_: &Type, bytes: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(bytes))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(rows: &[(&str, &[Option<&[u8]>])]) -> Census {
        let mut census = Census::default();
        for (kind, columns) in rows {
            census.add("records", kind, columns);
        }
        census
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_every_column_does() {
        let one: [Option<&[u8]>; 2] = [Some(b"a"), None];
        let two: [Option<&[u8]>; 2] = [Some(b"b"), Some(b"")];
        let counted = census(&[("card", &one), ("card", &two)]);
        let again = census(&[("card", &two), ("card", &one)]);
        assert_eq!(counted.difference(&again), None);
        assert_eq!((counted.rows(), counted.counts().len()), (2, 1));
        let changed = census(&[("card", &[Some(b"a"), Some(b"")]), ("card", &two)]);
        let said = counted.difference(&changed).unwrap();
        assert_eq!(said, "records of the kind card: 2, and not the same ones");
        let lost = census(&[("card", &one)]);
        let said = counted.difference(&lost).unwrap();
        assert_eq!(said, "records of the kind card: 2 before, 1 after");
        let added = census(&[("card", &one), ("card", &two), ("offer", &one)]);
        let said = counted.difference(&added).unwrap();
        assert_eq!(said, "records of the kind offer: 0 before, 1 after");
    }
}
