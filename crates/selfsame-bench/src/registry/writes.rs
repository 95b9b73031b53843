//! Writes over HTTP: one after the other, and at the highest rate.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::author::{Author, TRANSACTIONS};
use super::{RegistryBench, RegistryStage};
use crate::Error;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// The number of operations in a transaction of the batched figure.
const BATCH: u64 = 128;
/// The number of simultaneous writers.
const WRITERS: usize = 8;

/// Measures the time of a single durable write, as the client sees it.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub async fn singles(
    bench: &mut RegistryBench<'_>,
    stage: &mut RegistryStage,
) -> Result<(), Error> {
    let (runs, each) = (bench.plan.runs, bench.plan.singles);
    bench.progress.begin("single writes", runs as u64);
    let (mut medians, mut tails) = (Sample::default(), Sample::default());
    for _ in 0..runs {
        let mut times = Sample::default();
        for _ in 0..each {
            let transaction = stage.author.anchors(1)?;
            let began = Instant::now();
            stage
                .client
                .write(TRANSACTIONS, &stage.server.operator, transaction)
                .await?;
            times.add(began.elapsed());
        }
        medians.push(times.median());
        tails.push(times.quantile(0.99));
        bench.progress.advance(1);
    }
    bench.figures.push(
        Figure::new("write_p50_ms", medians.median(), "ms")
            .spread(medians.deviation())
            .bar(Bar::AtMost(2.0)),
    );
    bench
        .figures
        .push(Figure::new("write_p99_ms", tails.median(), "ms").spread(tails.deviation()));
    Ok(())
}

/// Measures operations a second if each transaction has many.
pub async fn batches(bench: &mut RegistryBench<'_>, stage: &RegistryStage) -> Result<(), Error> {
    let runs = bench.plan.runs;
    bench.progress.begin("batched writes", runs as u64);
    let mut rates = Sample::default();
    for _ in 0..runs {
        rates.push(batched(stage, bench.plan.load_for).await?);
        bench.progress.advance(1);
    }
    bench.figures.push(
        Figure::new("batched_ops_s", rates.median(), "operations/s")
            .spread(rates.deviation())
            .bar(Bar::AtLeast(8_000.0))
            .note(format!(
                "{BATCH} operations a transaction, {WRITERS} writers"
            )),
    );
    Ok(())
}

/// Each writer has one transaction of its own under way, and gets the next when it is answered.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn batched(stage: &RegistryStage, length: Duration) -> Result<f64, Error> {
    let mut author = Author::register(&stage.client, &stage.server.operator).await?;
    let began = Instant::now();
    let mut writers = JoinSet::new();
    let mut operations = 0;
    loop {
        let over = began.elapsed() >= length;
        while !over && writers.len() < WRITERS {
            if author.is_tired() {
                author = Author::register(&stage.client, &stage.server.operator).await?;
            }
            let transaction = author.anchors(BATCH)?;
            let (client, token) = (stage.client.clone(), stage.server.operator.clone());
            writers.spawn(async move { client.write(TRANSACTIONS, &token, transaction).await });
        }
        let Some(written) = writers.join_next().await else {
            break;
        };
        written.map_err(|error| Error::Server(error.to_string()))??;
        operations += BATCH;
    }
    Ok(operations as f64 / began.elapsed().as_secs_f64())
}
