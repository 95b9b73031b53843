//! Writes that four validators agree on: their latency and rate, the memory and disk they use, and how a node catches
//! up.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::RegistryBench;
use super::author::{Author, TRANSACTIONS};
use super::network::{BenchNetwork, BenchNode};
use crate::Error;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// Transactions with one operation each.
const SINGLE: Load = Load {
    each: 1,
    writers: 128,
};
/// The transactions of the batched figure.
const BATCHED: Load = Load {
    each: 128,
    writers: 32,
};
/// The node that is stopped and started again; no client writes to it.
const AWAY: usize = 3;
/// The maximum time until a node has caught up.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval at which the node is asked.
const AGAIN: Duration = Duration::from_millis(10);

/// The amount of each measurement on a network.
#[derive(Clone, Copy, Debug)]
pub struct AgreedPlan {
    /// The number of single writes, one after the other, in each run.
    pub singles: usize,
    /// The number of runs; their median is the figure and their deviation its spread.
    pub runs: usize,
    /// The time for which many clients write at once, in each run.
    pub load_for: Duration,
    /// The time for which a node is stopped while clients write to the others, in each run.
    pub away_for: Duration,
    /// The total number of single transactions before memory and disk are measured.
    pub transactions: u64,
    /// The pause before memory and disk are measured.
    pub rest: Duration,
}

/// What is written at once.
#[derive(Clone, Copy)]
struct Load {
    /// The number of operations in a transaction.
    each: u64,
    /// The number of simultaneous writers over all nodes.
    writers: usize,
}

/// The end of a load.
#[derive(Clone, Copy)]
enum Until {
    /// Ends after this time.
    Time(Duration),
    /// Ends after this many transactions.
    Count(u64),
}

/// A network with an author that may write to it.
struct Stage {
    network: BenchNetwork,
    author: Author,
    /// The numbers of transactions and operations so far, including that of the author's DID.
    written: (u64, u64),
    /// The number of the last transaction that was acknowledged.
    last: u64,
}

/// Measures all figures of the network.
pub async fn measure(bench: &mut RegistryBench<'_>, network: BenchNetwork) -> Result<(), Error> {
    let first = &network.nodes[0];
    let author = Author::register(&first.client, &first.token).await?;
    let mut stage = Stage {
        network,
        author,
        written: (1, 1),
        last: 1,
    };
    one_by_one(bench, &mut stage).await?;
    rates(bench, &mut stage, SINGLE, "bft_single_ops_s", 700.0).await?;
    left_behind(bench, &mut stage).await?;
    rates(bench, &mut stage, BATCHED, "bft_batched_ops_s", 3_000.0).await?;
    catching_up(bench, &mut stage).await
}

/// Measures the time of a single durable write, as the client sees it.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn one_by_one(bench: &mut RegistryBench<'_>, stage: &mut Stage) -> Result<(), Error> {
    let plan = bench.plan.network;
    bench.progress.begin("agreed writes", plan.runs as u64);
    let (mut medians, mut tails) = (Sample::default(), Sample::default());
    for _ in 0..plan.runs {
        let mut times = Sample::default();
        for _ in 0..plan.singles {
            let transaction = stage.author.anchors(1)?;
            let began = Instant::now();
            let number = write(&stage.network.nodes[0], transaction).await?;
            times.add(began.elapsed());
            stage.has_written(number, 1);
        }
        medians.push(times.median());
        tails.push(times.quantile(0.99));
        bench.progress.advance(1);
    }
    for (name, sample, bar) in [("bft_p50_ms", medians, 80.0), ("bft_p99_ms", tails, 150.0)] {
        bench.figures.push(
            Figure::new(name, sample.median(), "ms")
                .spread(sample.deviation())
                .bar(Bar::AtMost(bar))
                .note(format!("{} writes a run", plan.singles)),
        );
    }
    Ok(())
}

/// Measures operations a second under a load, for the figure `name`, which must be at least `bar`.
async fn rates(
    bench: &mut RegistryBench<'_>,
    stage: &mut Stage,
    load: Load,
    name: &str,
    bar: f64,
) -> Result<(), Error> {
    let plan = bench.plan.network;
    bench.progress.begin(name, plan.runs as u64);
    let nodes = stage.network.nodes.len();
    let mut rates = Sample::default();
    for _ in 0..plan.runs {
        let until = Until::Time(plan.load_for);
        rates.push(stage.load(load, nodes, until).await?);
        bench.progress.advance(1);
    }
    let Load { each, writers } = load;
    bench.figures.push(
        Figure::new(name, rates.median(), "operations/s")
            .spread(rates.deviation())
            .bar(Bar::AtLeast(bar))
            .note(format!(
                "{each} a transaction, {writers} writers over {nodes} nodes"
            )),
    );
    Ok(())
}

/// Measures memory and disk after a load and a pause.
async fn left_behind(bench: &mut RegistryBench<'_>, stage: &mut Stage) -> Result<(), Error> {
    let plan = bench.plan.network;
    bench.progress.begin("load and rest", 2);
    let nodes = stage.network.nodes.len();
    let missing = plan.transactions.saturating_sub(stage.written.0);
    stage.load(SINGLE, nodes, Until::Count(missing)).await?;
    bench.progress.advance(1);
    tokio::time::sleep(plan.rest).await;
    bench.progress.advance(1);
    let (transactions, operations) = stage.written;
    let each = |of: &dyn Fn(&BenchNode) -> f64| -> f64 {
        let nodes = stage.network.nodes.iter();
        nodes.map(of).fold(0.0, f64::max)
    };
    let after = format!(
        "after {transactions} transactions and {} s of rest, the largest of four",
        plan.rest.as_secs()
    );
    bench.figures.push(
        Figure::new("rss_mb_pair", each(&BenchNode::memory), "MB")
            .bar(Bar::AtMost(350.0))
            .note(after.clone()),
    );
    let a_part = |bytes: f64| bytes / operations as f64;
    bench.figures.push(
        Figure::new(
            "store_bytes_op",
            a_part(each(&|node| node.ledger_bytes() as f64)),
            "B",
        )
        .bar(Bar::AtMost(1_000.0))
        .note(after),
    );
    bench.figures.push(
        Figure::new(
            "engine_bytes_op",
            a_part(each(&|node| node.engine_bytes() as f64)),
            "B",
        )
        .note("the engine's own data; it keeps the last 100,000 blocks"),
    );
    Ok(())
}

/// Measures the time from a node's start until it has everything that was written while it was stopped.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn catching_up(bench: &mut RegistryBench<'_>, stage: &mut Stage) -> Result<(), Error> {
    let plan = bench.plan.network;
    bench.progress.begin("catching up", plan.runs as u64);
    let (mut times, mut missed) = (Sample::default(), Sample::default());
    for _ in 0..plan.runs {
        let before = stage.last;
        stage.network.nodes[AWAY].stop().await?;
        let until = Until::Time(plan.away_for);
        stage.load(SINGLE, AWAY, until).await?;
        let began = Instant::now();
        let node = &mut stage.network.nodes[AWAY];
        node.start()?;
        while !node.has(stage.last).await {
            if began.elapsed() > PATIENCE {
                return Err(Error::Server("a node does not catch up".to_owned()));
            }
            tokio::time::sleep(AGAIN).await;
        }
        times.push(began.elapsed().as_secs_f64());
        missed.push(stage.last.saturating_sub(before) as f64);
        bench.progress.advance(1);
    }
    bench.figures.push(
        Figure::new("catch_up_s", times.median(), "s")
            .spread(times.deviation())
            .bar(Bar::AtMost(5.0))
            .note(format!(
                "from the start of its process, {} transactions behind",
                missed.median()
            )),
    );
    Ok(())
}

impl Stage {
    /// Each writer has one transaction of its own under way at one of the first `nodes` nodes, and gets the next when
    /// it is answered. Returns operations a second.
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    async fn load(&mut self, load: Load, nodes: usize, until: Until) -> Result<f64, Error> {
        let Load { each, writers } = load;
        let began = Instant::now();
        let mut writing = JoinSet::new();
        let (mut begun, mut done) = (0_u64, 0_u64);
        loop {
            let over = match until {
                Until::Time(length) => began.elapsed() >= length,
                Until::Count(count) => begun >= count,
            };
            if !over && writing.len() < writers {
                if self.author.is_tired() {
                    let first = &self.network.nodes[0];
                    self.author = Author::register(&first.client, &first.token).await?;
                    self.written = (self.written.0 + 1, self.written.1 + 1);
                }
                let transaction = self.author.anchors(each)?;
                let to = begun as usize % nodes;
                let node = &self.network.nodes[to];
                let (client, token) = (node.client.clone(), node.token.clone());
                writing.spawn(async move { write_to(&client, &token, transaction).await });
                begun += 1;
                continue;
            }
            let Some(written) = writing.join_next().await else {
                break;
            };
            let number = written.map_err(|error| Error::Server(error.to_string()))??;
            self.has_written(number, each);
            done += each;
        }
        Ok(done as f64 / began.elapsed().as_secs_f64())
    }

    fn has_written(&mut self, number: u64, operations: u64) {
        self.written = (self.written.0 + 1, self.written.1 + operations);
        self.last = self.last.max(number);
    }
}

async fn write(node: &BenchNode, transaction: Vec<u8>) -> Result<u64, Error> {
    write_to(&node.client, &node.token, transaction).await
}

/// Writes a transaction and returns its number in the log.
async fn write_to(
    client: &crate::client::BenchClient,
    token: &str,
    transaction: Vec<u8>,
) -> Result<u64, Error> {
    let receipt = client.write(TRANSACTIONS, token, transaction).await?;
    let number = receipt.get("seq_no").and_then(serde_json::Value::as_u64);
    number.ok_or_else(|| Error::Server("a write has no receipt".to_owned()))
}
