//! Scenarios without pauses: how many in a second, how long each call takes at a fixed rate, and whether the memory stays.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::report::{Bar, Figure};
use tokio::task::JoinSet;
use tokio::time::{Instant as Tick, MissedTickBehavior, interval, sleep_until};

use crate::AriesBench;
use crate::agents::{AriesStage, Kind};
use crate::closed::Round;
use crate::scenario::now;
use crate::study::{self, STEPS};

/// How many scenarios are under way at once.
const AT_ONCE: usize = 16;
/// The rate at which the time of each call has a bar, in scenarios a second.
const RATE: u64 = 20;

/// Starts agents and measures.
pub async fn measure(bench: &mut AriesBench<'_>) -> Result<(), Error> {
    let stage = bench.stage("open", Kind::Vaccination).await?;
    warm(bench, &stage).await?;
    rate(bench, &stage).await?;
    at_rate(bench, &stage).await?;
    memory(bench, &stage).await
}

/// The first scenario, which may fetch and prepare what all others use.
async fn warm(bench: &AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    bench.progress.begin("the first scenario", 1);
    match stage.cast.walk(None).await.failed {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Scenarios that follow each other for a time.
pub async fn rate(bench: &mut AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    let seconds = bench.plan.open_for.as_secs_f64();
    bench.progress.begin("scenarios without pauses", 1);
    let until = Tick::now() + bench.plan.open_for;
    let (before, began) = (stage.usage(), now());
    let mut tasks = JoinSet::new();
    for _ in 0..AT_ONCE {
        let cast = stage.cast.clone();
        tasks.spawn(async move {
            let mut walked = Vec::new();
            while Tick::now() < until {
                walked.push(cast.walk(None).await);
            }
            walked
        });
    }
    let mut round = Round::default();
    while let Some(walked) = tasks.join_next().await {
        walked
            .unwrap_or_default()
            .into_iter()
            .for_each(|one| round.add(one));
    }
    bench.progress.advance(1);
    let took = began.elapsed().as_secs_f64().max(seconds);
    let cpu = (stage.usage().cpu_s - before.cpu_s) / took * 100.0;
    let scenarios = Figure::new("scenarios_s", round.finished as f64 / took, "1/s");
    bench
        .figures
        .push(scenarios.study(study::SCENARIOS_S).bar(Bar::AtLeast(60.0)));
    bench
        .figures
        .push(Figure::new("open_cpu_percent", cpu, "%"));
    bench.figures.push(errors("open_errors", &round));
    Ok(())
}

/// Scenarios that begin at a fixed rate, whatever those before do.
async fn at_rate(bench: &mut AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    let count = bench.plan.open_for.as_secs() * RATE;
    bench
        .progress
        .begin(&format!("{RATE} scenarios a second"), count);
    let mut ticks = interval(Duration::from_secs(1) / u32::try_from(RATE).unwrap_or(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        sleep_until(ticks.tick().await).await;
        let cast = stage.cast.clone();
        tasks.spawn(async move { cast.walk(None).await });
    }
    let mut round = Round::default();
    while let Some(walked) = tasks.join_next().await {
        if let Ok(walked) = walked {
            round.add(walked);
        }
        bench.progress.advance(1);
    }
    let slowest = round.steps.iter().map(|step| step.quantile(0.95));
    let slowest = slowest.fold(0.0, f64::max);
    let figure = Figure::new("step_p95_ms", slowest, "ms").bar(Bar::AtMost(50.0));
    bench.figures.push(figure.note("the slowest call's"));
    for (name, step) in STEPS.iter().zip(&round.steps) {
        let name = format!("p95_ms_{name}");
        bench
            .figures
            .push(Figure::new(name, step.quantile(0.95), "ms"));
    }
    bench.figures.push(errors("rate_errors", &round));
    Ok(())
}

/// The memory over many scenarios, and the bytes that one leaves on the disk.
async fn memory(bench: &mut AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    let count = bench.plan.scenarios;
    bench.progress.begin("memory", count as u64);
    let (records, ledger) = stage.stored();
    let mut round = Round::default();
    let mut tasks = JoinSet::new();
    let mut early = 0.0;
    for number in 0..count {
        if tasks.len() >= AT_ONCE
            && let Some(Ok(walked)) = tasks.join_next().await
        {
            round.add(walked);
            bench.progress.advance(1);
        }
        if number == count / 10 {
            early = stage.usage().rss_mb;
        }
        let cast = stage.cast.clone();
        tasks.spawn(async move { cast.walk(None).await });
    }
    while let Some(walked) = tasks.join_next().await {
        if let Ok(walked) = walked {
            round.add(walked);
        }
    }
    let late = stage.usage();
    let (records_after, ledger_after) = stage.stored();
    let each = |before: u64, after: u64| after.saturating_sub(before) as f64 / count.max(1) as f64;
    bench
        .figures
        .push(Figure::new("rss_mb", late.rss_mb, "MB").bar(Bar::AtMost(150.0)));
    let growth = late.rss_mb / early.max(1.0);
    bench.figures.push(
        Figure::new("rss_growth", growth, "").note("over that after a tenth of the scenarios"),
    );
    bench.figures.push(Figure::new(
        "wallet_bytes",
        each(records, records_after),
        "B",
    ));
    bench
        .figures
        .push(Figure::new("ledger_bytes", each(ledger, ledger_after), "B"));
    bench.figures.push(errors("memory_errors", &round));
    Ok(())
}

fn errors(name: &str, round: &Round) -> Figure {
    let figure = Figure::new(name, round.failed as f64, "").bar(Bar::AtMost(0.0));
    match &round.why {
        Some(why) => figure.note(why.clone()),
        None => figure,
    }
}
