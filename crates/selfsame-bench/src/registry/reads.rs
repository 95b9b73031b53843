//! Reads with proofs: how many a second are served over HTTP, checked by a reader, and answered from its memory.

use std::time::{Duration, Instant};

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::client::{Client as Reader, Lasting};
use selfsame_proof::read::{Bundle, ReadPolicy};
use tokio::task::JoinSet;

use super::{RegistryBench, RegistryStage};
use crate::Error;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// The number of different objects that are read.
const OBJECTS: u64 = 256;
/// The number of connections that read at once.
const READERS: u64 = 16;
/// The maximum age of an object that is answered from memory, in seconds.
const MAX_AGE: u64 = 3_600;

/// Measures all three figures.
pub async fn measure(bench: &mut RegistryBench<'_>, stage: &RegistryStage) -> Result<(), Error> {
    let bundles = fetch(stage).await?;
    bench.progress.begin("reads", bench.plan.runs as u64);
    let mut rates: [Sample; 3] = Default::default();
    for _ in 0..bench.plan.runs {
        rates[0].push(served(stage, bench.plan.load_for).await?);
        rates[1].push(checked(stage, &bundles, bench.plan.checks_for)?);
        rates[2].push(remembered(stage, &bundles, bench.plan.checks_for)?);
        bench.progress.advance(1);
    }
    let bars = [
        ("proofs_served_s", "reads/s", 5_000.0),
        ("proof_checks_s", "checks/s", 100_000.0),
        ("cached_reads_s", "reads/s", 1_000_000.0),
    ];
    for ((name, unit, bar), rates) in bars.into_iter().zip(rates) {
        bench.figures.push(
            Figure::new(name, rates.median(), unit)
                .spread(rates.deviation())
                .bar(Bar::AtLeast(bar)),
        );
    }
    Ok(())
}

/// The author's objects with the node's proofs, all under the newest checkpoint.
async fn fetch(stage: &RegistryStage) -> Result<Vec<Bundle>, Error> {
    let mut bundles = Vec::new();
    for number in 0..OBJECTS {
        let bytes = stage.client.get_bytes(&path(stage, number)).await?;
        bundles.push(Bundle::from_bytes(&bytes).map_err(|bad| Error::Server(bad.to_string()))?);
    }
    // A reader accepts only newer checkpoints, so bundles of older ones are dropped.
    let newest = bundles.last().map(|bundle| bundle.note.clone());
    bundles.retain(|bundle| Some(&bundle.note) == newest.as_ref());
    Ok(bundles)
}

fn path(stage: &RegistryStage, number: u64) -> String {
    let key = stage.author.anchor_key(number);
    format!("/registry/read?key={}", base64url_encode(&key))
}

/// Reads a second over HTTP, with their proofs.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn served(stage: &RegistryStage, length: Duration) -> Result<f64, Error> {
    let began = Instant::now();
    let mut readers = JoinSet::new();
    for reader in 0..READERS {
        let client = stage.client.clone();
        let paths: Vec<String> = (0..OBJECTS).map(|number| path(stage, number)).collect();
        readers.spawn(async move {
            let mut reads = 0_u64;
            for path in paths.iter().cycle().skip((reader * 31) as usize) {
                if began.elapsed() >= length {
                    break;
                }
                client.get_bytes(path).await?;
                reads += 1;
            }
            Ok::<u64, Error>(reads)
        });
    }
    let mut reads = 0;
    while let Some(done) = readers.join_next().await {
        reads += done.map_err(|error| Error::Server(error.to_string()))??;
    }
    Ok(reads as f64 / began.elapsed().as_secs_f64())
}

/// Answers a second that one core checks if their checkpoint is known.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn checked(stage: &RegistryStage, bundles: &[Bundle], length: Duration) -> Result<f64, Error> {
    let (mut reader, now) = (reader(stage), now());
    let began = Instant::now();
    let mut checks = 0_u64;
    for bundle in bundles.iter().cycle() {
        if checks.is_multiple_of(256) && began.elapsed() >= length {
            break;
        }
        let report = reader.accept(&bundle.key, bundle, Lasting::Within(MAX_AGE), now);
        if !report.is_verified() {
            return Err(Error::Server(format!("a read is refused: {report:?}")));
        }
        checks += 1;
    }
    Ok(checks as f64 / began.elapsed().as_secs_f64())
}

/// Objects a second that a reader answers from memory, with a check of their age each time.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn remembered(stage: &RegistryStage, bundles: &[Bundle], length: Duration) -> Result<f64, Error> {
    let (mut reader, now) = (reader(stage), now());
    for bundle in bundles {
        reader.accept(&bundle.key, bundle, Lasting::Within(MAX_AGE), now);
    }
    let began = Instant::now();
    let mut reads = 0_u64;
    for bundle in bundles.iter().cycle() {
        if reads.is_multiple_of(1_024) && began.elapsed() >= length {
            break;
        }
        let found = reader.get(&bundle.key, Lasting::Within(MAX_AGE), now);
        if std::hint::black_box(found).is_none() {
            return Err(Error::Server("a verified object is forgotten".to_owned()));
        }
        reads += 1;
    }
    Ok(reads as f64 / began.elapsed().as_secs_f64())
}

fn reader(stage: &RegistryStage) -> Reader {
    let policy = ReadPolicy {
        max_age: Some(MAX_AGE),
        ..ReadPolicy::genuine(60)
    };
    Reader::new(stage.author.trust(), policy, 64 * 1024 * 1024)
}

#[expect(clippy::disallowed_methods, reason = "a reader has a clock")]
fn now() -> UnixTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    UnixTime(since.map_or(0, |since| since.as_secs()))
}
