//! Makes the offers of a chunk, in one commit with what came of its rows.

use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid::issuer::{Issuer, OfferDesk, OfferDrafts};
use selfsame_store::StoreError;
use serde_json::Map;

use super::{ListWork, Onward};
use crate::record::{CHUNK, ListRecord, ListRow, RowChunk, RowResult, StoredList, chunk_id};
use crate::view::ListState;

/// What was judged of a chunk.
struct JudgedChunk {
    drafts: OfferDrafts,
    /// For each row: why it has no offer.
    refused: Vec<Option<Error>>,
}

impl ListWork {
    /// Makes the offers of the next chunk.
    pub(super) async fn offer(&self, mut stored: StoredList) -> Result<Onward> {
        if stored.list.next >= stored.list.chunks {
            let state = match stored.list.new.mail {
                true => ListState::Mailing,
                false => ListState::Done,
            };
            return self.turned(stored, state).await;
        }
        let shared = &self.lists.shared;
        let roles = self.lists.roles_of(&self.at.tenant).await?;
        let issuer = roles.issuer()?;
        let id = chunk_id(&self.at.id, stored.list.next);
        let read = shared.store.read(&self.at.tenant, CHUNK, &id).await?;
        let read = read.ok_or_else(|| Error::not_found("list-unknown"))?;
        let mut chunk: RowChunk = decode(&read.value)?;
        let desk = issuer.desk().await?;
        let (list, rows) = (stored.list.clone(), chunk.rows.clone());
        let judging = move || judged(&desk, &list, &rows);
        let judged = shared.reading.run_in_turn(judging).await??;
        chunk.results = results(issuer, &judged)?;
        for row in &mut chunk.rows {
            // The offer has them now.
            row.claims = Map::new();
        }
        let list = &mut stored.list;
        list.next = list.next.saturating_add(1);
        for result in &chunk.results {
            let count = match result {
                RowResult::Offered(_) => &mut list.offered,
                RowResult::Refused(_) => &mut list.refused,
            };
            *count = count.saturating_add(1);
        }
        let batch = judged.drafts.written_in(self.batch(&stored)?);
        let batch = batch.update(CHUNK, &read, encode(&chunk)?);
        let events = judged.drafts.events();
        match shared.events.commit_all(batch, &events).await {
            Ok(_) => Ok(Onward::More),
            // The list was cancelled, or another process took the turn.
            Err(StoreError::Conflict { .. }) => Ok(Onward::Later),
            Err(error) => Err(error.into()),
        }
    }
}

fn judged(desk: &OfferDesk, list: &ListRecord, rows: &[ListRow]) -> Result<JudgedChunk> {
    let mut judged = JudgedChunk {
        drafts: OfferDrafts::default(),
        refused: Vec::with_capacity(rows.len()),
    };
    for row in rows {
        let refused = desk.draft(&list.offer(row), &mut judged.drafts).err();
        match refused {
            // The type has changed since the list was judged.
            Some(error) if !is_about_the_row(error.kind) => return Err(error),
            refused => judged.refused.push(refused),
        }
    }
    Ok(judged)
}

fn is_about_the_row(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::BadRequest | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Gone
    )
}

/// The results of the rows, in their order.
fn results(issuer: &Issuer, judged: &JudgedChunk) -> Result<Vec<RowResult>> {
    let mut offers = issuer.shown(&judged.drafts)?.into_iter();
    let results = judged.refused.iter().map(|refused| match refused {
        Some(error) => Ok(RowResult::Refused(error.reason.clone())),
        None => {
            let offer = offers.next();
            let offer = offer.ok_or_else(|| Error::internal("an offer is missing"))?;
            Ok(RowResult::Offered(offer.into()))
        }
    });
    results.collect()
}
