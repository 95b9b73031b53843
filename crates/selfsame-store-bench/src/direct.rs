//! The store without a server: records loaded in batches, found by tag, and inserted one by one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_bench::statistics::Sample;
use selfsame_bench::{Error, Progress};
use selfsame_store::{Batch, Page, Put, Store, Tag, TenantId};
use tokio::task::JoinSet;

use crate::stored;

const TENANT: &str = "bench";
const KIND: &str = "card";
/// The size of a record's value: that of a credential.
const VALUE_BYTES: usize = 1_000;
const LOADERS: usize = 4;
const BATCH: usize = 500;
/// How many single records are inserted at once.
const WRITERS: usize = 32;

/// A store with records of one tenant.
pub struct DirectStore {
    store: Arc<Store>,
    tenant: TenantId,
}

/// Record number `number`, with a tag of its own and two that it shares.
fn record(number: usize) -> Put {
    let byte = u8::try_from(number % 251).unwrap_or_default();
    Put::new(KIND, format!("{number:012}"), vec![byte; VALUE_BYTES])
        .tag(unique(number))
        .tag(Tag::hashed("type", (number % 7).to_string()))
        .tag(Tag::hashed("issuer", (number % 1_000).to_string()))
}

fn unique(number: usize) -> Tag {
    Tag::hashed("unique", number.to_string())
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
impl DirectStore {
    /// A store that only this load uses.
    pub fn new(store: Store) -> Result<Self, Error> {
        Ok(Self {
            store: Arc::new(store),
            tenant: TenantId::parse(TENANT).map_err(stored)?,
        })
    }

    /// Loads this many records in batches. Returns records per second.
    pub async fn load(&self, count: usize, progress: &dyn Progress) -> Result<f64, Error> {
        progress.begin("loading records", count as u64);
        let began = Instant::now();
        let mut loading = JoinSet::new();
        for first in (0..count).step_by(BATCH) {
            let last = count.min(first + BATCH);
            let (store, tenant) = (self.store.clone(), self.tenant.clone());
            loading.spawn(async move {
                let batch = (first..last)
                    .map(record)
                    .fold(Batch::new(tenant), Batch::put);
                store.commit(batch).await.map(|_| last - first)
            });
            if loading.len() >= LOADERS {
                progress.advance(ended(&mut loading).await?);
            }
        }
        while !loading.is_empty() {
            progress.advance(ended(&mut loading).await?);
        }
        Ok(count as f64 / began.elapsed().as_secs_f64())
    }

    /// Finds single records by their own tag, one after another. Returns the times.
    pub async fn look_up(&self, count: usize, times: usize) -> Result<Sample, Error> {
        let mut sample = Sample::default();
        for turn in 0..times {
            // A prime step visits all of the records.
            let number = turn.wrapping_mul(7_919) % count;
            let began = Instant::now();
            let (tag, page) = (unique(number), Page::first(2));
            let found = self.store.find(&self.tenant, KIND, &tag, &page).await;
            let found = found.map_err(stored)?;
            sample.add(began.elapsed());
            if found.len() != 1 {
                return Err(Error::Call {
                    what: "a look-up by tag".to_owned(),
                    why: format!("{} records instead of one", found.len()),
                });
            }
        }
        Ok(sample)
    }

    /// Inserts single records, each in a commit of its own, 32 at once. Returns records per second.
    pub async fn insert(&self, from: usize, time: Duration) -> Result<f64, Error> {
        let began = Instant::now();
        let mut inserting = JoinSet::new();
        for writer in 0..WRITERS {
            let (store, tenant) = (self.store.clone(), self.tenant.clone());
            inserting.spawn(async move {
                let mut written = 0;
                while began.elapsed() < time {
                    let put = record(from + writer + written * WRITERS);
                    store.commit(Batch::new(tenant.clone()).put(put)).await?;
                    written += 1;
                }
                Ok(written)
            });
        }
        let mut written = 0;
        while !inserting.is_empty() {
            written += ended(&mut inserting).await?;
        }
        Ok(written as f64 / began.elapsed().as_secs_f64())
    }
}

/// What the next of the tasks that ends has done.
async fn ended(tasks: &mut JoinSet<selfsame_store::Result<usize>>) -> Result<u64, Error> {
    match tasks.join_next().await {
        Some(joined) => {
            let done = joined.map_err(|error| Error::Server(error.to_string()))?;
            Ok(done.map_err(stored)? as u64)
        }
        None => Ok(0),
    }
}
