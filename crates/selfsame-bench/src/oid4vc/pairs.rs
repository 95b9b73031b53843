//! Sequential pairs of issuance and verification for a minute between two idle times, with the processor's load.

use std::time::{Duration, Instant};

use super::{Oid4vcBench, Stage};
use crate::Error;
use crate::chart::{Chart, Line};
use crate::flow;
use crate::process::ServerProcess;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// The results of one run.
struct PairsRun {
    pairs: u64,
    pair_ms: f64,
    commits: u64,
    requests: u64,
    /// The mean time of a durable commit. Times their number, it gives all the time spent on the disk.
    commit_ms: f64,
    /// The median of the last thousand commits.
    commit_median_ms: f64,
    /// For each second of the whole run, the processor's load in per cent of one core, and the memory in MB.
    load: Vec<(f64, f64)>,
    /// The load in each second between the idle times.
    busy: Sample,
}

/// The server's own counters.
struct Counted {
    commits: u64,
    outbound: u64,
    commits_took_ms: f64,
    commit_median_ms: f64,
}

/// Measures all runs.
pub async fn measure(bench: &mut Oid4vcBench<'_>, stage: &Stage) -> Result<(), Error> {
    let person = flow::register(&stage.client, 1_000_000).await?;
    let mut runs = Vec::new();
    for number in 0..bench.plan.pair_runs {
        runs.push(run(bench, stage, &person, number).await?);
    }
    let scale = 60.0 / bench.plan.pairs_for.as_secs_f64();
    let pairs = sample(&runs, |run| run.pairs as f64 * scale);
    let mut figure = Figure::new("pairs_60s", pairs.median(), "pairs")
        .spread(pairs.range())
        .bar(Bar::AtLeast(12_000.0))
        .study(269.0);
    if bench.plan.quick {
        figure = figure.note("scaled up from a shorter run");
    }
    let commit_ms = sample(&runs, |run| run.commit_ms);
    let commit_median = sample(&runs, |run| run.commit_median_ms);
    let overhead = sample(&runs, |run| {
        run.pair_ms - run.commits as f64 / run.pairs as f64 * run.commit_ms
    });
    let commits = sample(&runs, |run| run.commits as f64 / run.pairs as f64);
    let requests = sample(&runs, |run| run.requests as f64 / run.pairs as f64);
    let mut busy = Sample::default();
    runs.iter().for_each(|run| busy.extend(&run.busy));
    bench.figures.extend([
        figure,
        Figure::new("commit_ms", commit_ms.median(), "ms")
            .spread(commit_ms.range())
            .note("the mean durable commit, measured by the server in the same run"),
        Figure::new("commit_median_ms", commit_median.median(), "ms")
            .spread(commit_median.range())
            .note("the median of the last 1,024 of them"),
        Figure::new("pair_overhead_ms", overhead.median(), "ms")
            .spread(overhead.range())
            .bar(Bar::AtMost(2.5)),
        Figure::new("commits_per_pair", commits.median(), "")
            .spread(commits.range())
            .bar(Bar::AtMost(9.0)),
        Figure::new("requests_per_pair", requests.median(), "")
            .spread(requests.range())
            .bar(Bar::AtMost(12.0)),
        Figure::new("cpu_mean_percent", busy.mean(), "%")
            .spread(busy.deviation())
            .note("of one core, the server alone"),
        Figure::new("cpu_range_percent", busy.range(), "%").study(11.75),
        Figure::new("cpu_deviation_percent", busy.deviation(), "%").study(2.65),
        Figure::new(
            "rss_mb_pairs",
            runs.iter()
                .flat_map(|run| &run.load)
                .map(|(_, memory)| *memory)
                .fold(0.0, f64::max),
            "MB",
        ),
    ]);
    bench
        .charts
        .push(chart("Processor, per cent of one core", &runs, |point| {
            point.0
        }));
    bench
        .charts
        .push(chart("Memory, MB", &runs, |point| point.1));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn run(
    bench: &Oid4vcBench<'_>,
    stage: &Stage,
    person: &str,
    number: usize,
) -> Result<PairsRun, Error> {
    let plan = bench.plan;
    let seconds = plan.idle.as_secs() * 2 + plan.pairs_for.as_secs();
    bench
        .progress
        .begin(&format!("pairs, run {}", number + 1), seconds);
    let mut watch = LoadWatch::new();
    watch.idle(&stage.server, plan.idle, bench).await;
    let before = counted(stage).await?;
    let sent = stage.client.requests();
    let began = Instant::now();
    let mut pairs = 0;
    let first_busy = watch.load.len();
    while began.elapsed() < plan.pairs_for {
        flow::issue(&stage.client, stage.operator(), person, flow::STUDY_FORMAT).await?;
        flow::verify(&stage.client, stage.operator(), person, flow::STUDY_FORMAT).await?;
        pairs += 1;
        watch.look(&stage.server, bench);
    }
    let took = began.elapsed();
    let requests = stage.client.requests() - sent;
    let last_busy = watch.load.len();
    let after = counted(stage).await?;
    watch.idle(&stage.server, plan.idle, bench).await;
    let mut busy = Sample::default();
    watch
        .load
        .iter()
        .take(last_busy)
        .skip(first_busy)
        .for_each(|(load, _)| busy.push(*load));
    let commits = after.commits - before.commits;
    Ok(PairsRun {
        pairs,
        pair_ms: took.as_secs_f64() * 1e3 / pairs as f64,
        commits,
        requests: requests + after.outbound - before.outbound,
        commit_ms: (after.commits_took_ms - before.commits_took_ms) / commits.max(1) as f64,
        commit_median_ms: after.commit_median_ms,
        load: watch.load,
        busy,
    })
}

async fn counted(stage: &Stage) -> Result<Counted, Error> {
    let status = stage
        .client
        .get("/api/status", &stage.server.operator)
        .await?;
    Ok(Counted {
        commits: status["commits"].as_u64().unwrap_or(0),
        outbound: status["outbound_requests"].as_u64().unwrap_or(0),
        commits_took_ms: status["commits_took_ms"].as_f64().unwrap_or(0.0),
        commit_median_ms: status["commit_ms"].as_f64().unwrap_or(0.0),
    })
}

/// Reads the server's load once a second.
struct LoadWatch {
    load: Vec<(f64, f64)>,
    last: Option<(Instant, f64)>,
}

impl LoadWatch {
    fn new() -> Self {
        Self {
            load: Vec::new(),
            last: None,
        }
    }

    async fn idle(&mut self, server: &ServerProcess, time: Duration, bench: &Oid4vcBench<'_>) {
        for _ in 0..time.as_secs() * 20 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.look(server, bench);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "load is processor time by time")]
    fn look(&mut self, server: &ServerProcess, bench: &Oid4vcBench<'_>) {
        let now = Instant::now();
        let Some((then, cpu)) = self.last else {
            self.last = Some((now, server.usage().cpu_s));
            return;
        };
        let passed = now.duration_since(then).as_secs_f64();
        if passed >= 1.0 {
            let usage = server.usage();
            self.load
                .push(((usage.cpu_s - cpu) / passed * 100.0, usage.rss_mb));
            self.last = Some((now, usage.cpu_s));
            bench.progress.advance(1);
        }
    }
}

fn sample(runs: &[PairsRun], value: impl Fn(&PairsRun) -> f64) -> Sample {
    let mut sample = Sample::default();
    runs.iter().for_each(|run| sample.push(value(run)));
    sample
}

fn chart(title: &str, runs: &[PairsRun], value: impl Fn(&(f64, f64)) -> f64) -> Chart {
    Chart {
        title: title.to_owned(),
        x: "seconds".to_owned(),
        lines: runs
            .iter()
            .enumerate()
            .map(|(number, run)| Line {
                name: format!("run {}", number + 1),
                points: run
                    .load
                    .iter()
                    .enumerate()
                    .map(|(second, point)| (second as f64, value(point)))
                    .collect(),
            })
            .collect(),
    }
}
