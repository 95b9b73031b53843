//! Measures the store on a PostgreSQL database: `cargo run --release -p selfsame-postgres --example rates -- URL COUNT`.
//!
//! Loads records of 1 kB with three tags in batches, then finds records by tag, then inserts single records from 32
//! tasks. With `sqlite:FILE` in place of the URL, the same on SQLite.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "an example measures time and prints"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_crypto::seal::SealingKey;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::Backend;
use selfsame_store::{Batch, Page, Put, Sqlite, Store, Tag, TenantId, Vault};
use tokio::task::JoinSet;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const LOADERS: usize = 4;
const BATCH: usize = 500;
const WRITERS: usize = 32;
const TIME: Duration = Duration::from_secs(8);

fn record(number: usize) -> Put {
    let value = vec![u8::try_from(number % 251).unwrap_or_default(); 1_000];
    Put::new("card", format!("{number:012}"), value)
        .tag(Tag::hashed("unique", number.to_string()))
        .tag(Tag::hashed("type", (number % 7).to_string()))
        .tag(Tag::hashed("issuer", (number % 1_000).to_string()))
}

async fn load(store: &Store, tenant: &TenantId, count: usize) -> Outcome<f64> {
    let begun = Instant::now();
    let mut loaders = JoinSet::new();
    for loader in 0..LOADERS {
        let (store, tenant) = (store.clone(), tenant.clone());
        loaders.spawn(async move {
            let mine = (loader * BATCH..count).step_by(LOADERS * BATCH);
            for first in mine {
                let numbers = first..count.min(first + BATCH);
                let batch = numbers.fold(Batch::new(tenant.clone()), |batch, number| {
                    batch.put(record(number))
                });
                store.commit(batch).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(loaded) = loaders.join_next().await {
        loaded??;
    }
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

async fn look_up(store: &Store, tenant: &TenantId, count: usize) -> Outcome<[Duration; 2]> {
    let mut times = Vec::new();
    for turn in 0..2_000_usize {
        let number = turn.wrapping_mul(7_919) % count;
        let begun = Instant::now();
        let tag = Tag::hashed("unique", number.to_string());
        let found = store.find(tenant, "card", &tag, &Page::first(2)).await?;
        times.push(begun.elapsed());
        assert_eq!(found.len(), 1);
    }
    times.sort_unstable();
    Ok([times[times.len() / 2], times[times.len() * 99 / 100]])
}

async fn insert(store: &Store, tenant: &TenantId, from: usize) -> Outcome<f64> {
    let begun = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, tenant) = (store.clone(), tenant.clone());
        writers.spawn(async move {
            let mut written = 0;
            while begun.elapsed() < TIME {
                let put = record(from + writer + written * WRITERS);
                store.commit(Batch::new(tenant.clone()).put(put)).await?;
                written += 1;
            }
            Outcome::Ok(written)
        });
    }
    let mut written = 0;
    while let Some(by_one) = writers.join_next().await {
        written += by_one??;
    }
    Ok(written as f64 / begun.elapsed().as_secs_f64())
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().ok_or("name a database")?;
    let count = arguments
        .next()
        .map_or(Ok(100_000), |count| count.parse())?;
    let backend: Arc<dyn Backend> = match place.strip_prefix("sqlite:") {
        Some(file) => Arc::new(Sqlite::open(file)?),
        None => Arc::new(Postgres::open(&Address::parse(&place)?, 8, Company::Alone).await?),
    };
    let vault = || Vault::from_master(SealingKey::from_bytes([1; 32]));
    let store = Store::open(backend, vault()).await?;
    let tenant = TenantId::parse("bench")?;
    println!("load_s {:.0}", load(&store, &tenant, count).await?);
    let [median, p99] = look_up(&store, &tenant, count).await?;
    println!(
        "lookup_ms {:.3} p99 {:.3}",
        median.as_secs_f64() * 1e3,
        p99.as_secs_f64() * 1e3
    );
    println!("inserts_s {:.0}", insert(&store, &tenant, count).await?);
    println!("commit_ms {:?}", store.meter().median());
    Ok(())
}
