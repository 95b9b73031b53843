//! What came of the rows.

use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging, after_number, numbered};
use selfsame_driver::record::decode;
use selfsame_openid::OrganisationRoles;

use crate::lists::IssuingLists;
use crate::record::{CHUNK, ListRecord, NotedList, RowChunk, chunk_id, list_record};
use crate::view::{ListResult, PRINTED_MAX};

/// The rows of a printed sheet.
#[derive(Clone, Copy, Debug)]
pub struct PrintedRows {
    /// The number of the first row, counted from 1.
    pub from: u64,
    /// How many rows are looked at, at most [`PRINTED_MAX`].
    pub count: usize,
}

/// A row with its number.
struct NumberedRow {
    number: u64,
    result: ListResult,
}

impl IssuingLists {
    /// The results of a list, in the order of its rows. A cursor is the number of a row.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` for a cursor that is no number.
    pub async fn results(
        &self,
        roles: &OrganisationRoles,
        id: &str,
        paging: &Paging,
    ) -> Result<Listing<ListResult>> {
        let after = after_number(paging)?;
        let most = paging.limit().saturating_add(1);
        let rows = self.rows(&self.at(roles, id), after, most).await?;
        let listed = numbered(rows, paging, |row| row.number);
        Ok(Listing {
            items: listed.items.into_iter().map(|row| row.result).collect(),
            next: listed.next,
        })
    }

    /// The results of a chunk; none after the last chunk. Chunks are counted from 0.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn chunk(
        &self,
        roles: &OrganisationRoles,
        id: &str,
        number: u64,
    ) -> Result<Option<Vec<ListResult>>> {
        let at = self.at(roles, id);
        let stored = list_record(&self.shared.store, &at).await?;
        if number >= stored.list.chunks {
            return Ok(None);
        }
        let chunk = self.stored_chunk(&at, number).await?;
        Ok(Some(chunk.shown()))
    }

    /// The rows of a printed sheet that have an offer.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn printed(
        &self,
        roles: &OrganisationRoles,
        id: &str,
        rows: PrintedRows,
    ) -> Result<Vec<ListResult>> {
        let after = rows.from.saturating_sub(1);
        let most = rows.count.min(PRINTED_MAX);
        let found = self.rows(&self.at(roles, id), after, most).await?;
        let found = found.into_iter().map(|row| row.result);
        Ok(found.filter(|row| row.uri.is_some()).collect())
    }

    /// Some rows after the row with a number.
    async fn rows(&self, at: &NotedList, after: u64, most: usize) -> Result<Vec<NumberedRow>> {
        let list: ListRecord = list_record(&self.shared.store, at).await?.list;
        let mut rows = Vec::new();
        for chunk in self.chunk_with(at, &list, after).await?..list.chunks {
            let chunk = self.stored_chunk(at, chunk).await?;
            for (number, result) in (chunk.before.saturating_add(1)..).zip(chunk.shown()) {
                if number > after {
                    rows.push(NumberedRow { number, result });
                }
                if rows.len() >= most {
                    return Ok(rows);
                }
            }
        }
        Ok(rows)
    }

    /// The last chunk that begins at or before the row after this many, found in a few steps among any number of chunks.
    async fn chunk_with(&self, at: &NotedList, list: &ListRecord, after: u64) -> Result<u64> {
        let (mut low, mut high) = (0, list.chunks);
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            match self.stored_chunk(at, middle).await?.before <= after {
                true => low = middle,
                false => high = middle,
            }
        }
        Ok(low)
    }

    async fn stored_chunk(&self, at: &NotedList, number: u64) -> Result<RowChunk> {
        let id = chunk_id(&at.id, number);
        let read = self.shared.store.read(&at.tenant, CHUNK, &id).await?;
        let chunk = read.map(|read| decode(&read.value)).transpose()?;
        Ok(chunk.unwrap_or_default())
    }
}
