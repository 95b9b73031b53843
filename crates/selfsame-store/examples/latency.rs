//! Measures the latency of the store on this machine: `cargo run --release -p selfsame-store --example latency
//! [directory]`.
#![allow(
    clippy::disallowed_methods,
    reason = "it measures time, which is its whole purpose"
)]

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_crypto::seal::SealingKey;
use selfsame_store::{Batch, Page, Put, Sqlite, Store, StoreError, Tag, TenantId, Vault};

const RECORDS: u32 = 2_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let path = directory
        .join(format!("selfsame-latency-{}", std::process::id()))
        .join("store.db");
    let backend = Arc::new(Sqlite::open(&path)?);
    let store = Store::open(backend, Vault::from_master(SealingKey::from_bytes([1; 32]))).await?;
    let tenant = TenantId::parse("someone")?;
    // On a task, as in a server: the thread that runs `main` is not a worker thread of the runtime.
    tokio::spawn(measure(store, tenant)).await??;
    std::fs::remove_dir_all(path.parent().unwrap_or(&directory))?;
    Ok(())
}

async fn measure(store: Store, tenant: TenantId) -> std::io::Result<()> {
    let mut took = Vec::new();
    for number in 0..RECORDS {
        let start = Instant::now();
        store.commit(batch(&tenant, number)).await.map_err(fail)?;
        took.push(start.elapsed());
    }
    let whole = median(&mut took);
    let disk = store.meter().median().unwrap_or_default();
    say("commit, one after the other", whole)?;
    say("  of which the disk", disk)?;
    say("  overhead", whole.saturating_sub(disk))?;

    took.clear();
    for number in RECORDS..2 * RECORDS {
        let start = Instant::now();
        store
            .commit(batch(&tenant, number).deferred())
            .await
            .map_err(fail)?;
        took.push(start.elapsed());
    }
    say("deferred commit", median(&mut took))?;
    reads(&store, &tenant).await?;
    crowd(&store, &tenant).await
}

async fn reads(store: &Store, tenant: &TenantId) -> std::io::Result<()> {
    let mut took = Vec::new();
    for number in 0..RECORDS {
        let start = Instant::now();
        store
            .read(tenant, "card", &number.to_string())
            .await
            .map_err(fail)?;
        took.push(start.elapsed());
    }
    say("read, where it is asked for", median(&mut took))?;

    took.clear();
    for number in 0..RECORDS {
        let (store, tenant) = (store.clone(), tenant.clone());
        let runtime = tokio::runtime::Handle::current();
        let start = Instant::now();
        let read = move || {
            runtime.block_on(async { store.read(&tenant, "card", &number.to_string()).await })
        };
        tokio::task::spawn_blocking(read).await?.map_err(fail)?;
        took.push(start.elapsed());
    }
    say("read, handed to a blocking thread", median(&mut took))?;

    took.clear();
    for number in 0..RECORDS {
        let start = Instant::now();
        let tag = Tag::hashed("holder", number.to_string());
        store
            .find(tenant, "card", &tag, &Page::first(10))
            .await
            .map_err(fail)?;
        took.push(start.elapsed());
    }
    say("find by a tag", median(&mut took))
}

async fn crowd(store: &Store, tenant: &TenantId) -> std::io::Result<()> {
    let (before, start) = (store.meter().commits(), Instant::now());
    let tasks: Vec<_> = (0..64_u32)
        .map(|task| {
            let (store, tenant) = (store.clone(), tenant.clone());
            tokio::spawn(async move {
                for number in 0..100 {
                    store
                        .commit(batch(&tenant, (task + 100) * 1_000 + number))
                        .await?;
                }
                Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await?.map_err(fail)?;
    }
    let each = start.elapsed() / 6_400;
    let waits = store.meter().commits() - before;
    writeln!(
        std::io::stdout(),
        "64 at once: 6400 commits, {each:.1?} each, {waits} waits for the disk"
    )
}

fn fail(error: StoreError) -> std::io::Error {
    std::io::Error::other(error)
}

fn batch(tenant: &TenantId, number: u32) -> Batch {
    let tag = Tag::hashed("holder", number.to_string());
    Batch::new(tenant.clone()).put(Put::new("card", number.to_string(), vec![7; 1_000]).tag(tag))
}

fn median(took: &mut [Duration]) -> Duration {
    took.sort_unstable();
    took.get(took.len() / 2).copied().unwrap_or_default()
}

fn say(what: &str, took: Duration) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{what:<36} {took:>10.1?}")
}
