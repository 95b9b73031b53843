//! Builds the index of a book anew. How far that is stands in a record, so that every process can tell.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selfsame_book_view::{IndexRebuild, RebuildState};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::books::{BOOK, Book, failed};

/// The kind and the identifier of the record.
const REBUILD: &str = "book-rebuild";
const LATEST: &str = "latest";
/// How often it is noted how far it is.
const NOTED_EVERY: Duration = Duration::from_millis(500);
/// Seconds without a note after which its process is taken for dead.
const SILENT_SECONDS: u64 = 30;

/// The latest time that an index was built anew.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct RebuildRecord {
    state: RebuildState,
    records: u64,
    of: u64,
    noted: UnixTime,
}

impl Book {
    /// Begins to build the index anew from the records, with the types as they are now, unless that is under way.
    ///
    /// # Errors
    /// The store's.
    pub async fn rebuild(&self) -> Result<IndexRebuild> {
        let now = self.shared().clock.now();
        let (version, latest) = self.latest_rebuild().await?;
        if let Some(latest) = latest
            && latest.is_running(now)
        {
            return Ok(latest.view(now));
        }
        let begun = RebuildRecord {
            state: RebuildState::Running,
            records: 0,
            of: self.store().count(self.tenant(), BOOK, u64::MAX).await?,
            noted: now,
        };
        let expected = version.map_or(Expect::Absent, Expect::Version);
        let batch = Batch::new(self.tenant().clone())
            .expect(REBUILD, LATEST, expected)
            .put(Put::new(REBUILD, LATEST, encode(&begun)?));
        self.store().commit(batch).await?;
        let book = self.clone();
        tokio::spawn(async move {
            let (state, records) = match book.build_again(begun).await {
                Ok(records) => (RebuildState::Done, records),
                Err(error) => {
                    tracing::error!(%error, "the index of a book could not be built anew");
                    (RebuildState::Failed, 0)
                }
            };
            let ended = RebuildRecord {
                state,
                records,
                ..begun
            };
            if let Err(error) = book.note_rebuild(ended).await {
                tracing::error!(%error, "the end of building an index anew could not be noted");
            }
        });
        Ok(begun.view(now))
    }

    /// How far the index is that is built anew, or was last.
    ///
    /// # Errors
    /// `NotFound` if it was never built anew by a request; the store's.
    pub async fn rebuilding(&self) -> Result<IndexRebuild> {
        let (_, latest) = self.latest_rebuild().await?;
        let latest = latest.ok_or_else(|| Error::not_found("book-rebuild-none"))?;
        Ok(latest.view(self.shared().clock.now()))
    }

    async fn latest_rebuild(&self) -> Result<(Option<u64>, Option<RebuildRecord>)> {
        match self.store().read(self.tenant(), REBUILD, LATEST).await? {
            Some(record) => Ok((Some(record.version), Some(decode(&record.value)?))),
            None => Ok((None, None)),
        }
    }

    async fn note_rebuild(&self, record: RebuildRecord) -> Result<()> {
        let noted = RebuildRecord {
            noted: self.shared().clock.now(),
            ..record
        };
        let put = Put::new(REBUILD, LATEST, encode(&noted)?);
        let batch = Batch::new(self.tenant().clone()).put(put);
        self.store().commit(batch.deferred()).await?;
        Ok(())
    }

    async fn build_again(&self, begun: RebuildRecord) -> Result<u64> {
        let follower = self.follower();
        {
            let _turn = follower.turn.lock().await;
            self.index().clear(&self.name).await.map_err(failed)?;
        }
        let mut following = pin!(self.follow());
        let indexed = loop {
            match timeout(NOTED_EVERY, &mut following).await {
                Ok(followed) => break followed?,
                Err(_) => {
                    let records = follower.read.load(Ordering::Relaxed);
                    self.note_rebuild(RebuildRecord { records, ..begun })
                        .await?;
                }
            }
        };
        tracing::info!(records = indexed, "the index of a book was built anew");
        Ok(indexed)
    }
}

impl RebuildRecord {
    /// Whether a process works on it, as far as can be seen.
    fn is_running(self, now: UnixTime) -> bool {
        self.state == RebuildState::Running && now.seconds_since(self.noted) < SILENT_SECONDS
    }

    fn view(self, now: UnixTime) -> IndexRebuild {
        IndexRebuild {
            state: match self.state {
                RebuildState::Running if !self.is_running(now) => RebuildState::Failed,
                state => state,
            },
            records: self.records,
            of: self.of.max(self.records),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rebuild_whose_process_is_silent_has_failed_and_may_begin_again() {
        let begun = RebuildRecord {
            state: RebuildState::Running,
            records: 7,
            of: 5,
            noted: UnixTime(1_000),
        };
        let at = |seconds| {
            (
                begun.is_running(UnixTime(seconds)),
                begun.view(UnixTime(seconds)).state,
            )
        };
        assert_eq!(at(1_029), (true, RebuildState::Running));
        assert_eq!(at(1_030), (false, RebuildState::Failed));
        // Records that came meanwhile are read too.
        assert_eq!(begun.view(UnixTime(1_000)).of, 7);
    }
}
