//! Scenarios without pauses: how many in a second, how long each call takes at a fixed rate, and whether the memory stays.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Bar, Figure};
use tokio::task::JoinSet;
use tokio::time::{Instant as Tick, MissedTickBehavior, interval, sleep_until};

use crate::AriesBench;
use crate::agents::Kind;
use crate::round::Round;
use crate::scenario::now;
use crate::stage::{AriesStage, Staging};
use crate::study::{self, STEPS};
use crate::table::TableSubject;

/// How many scenarios are under way at once.
const AT_ONCE: usize = 16;
/// The rate at which the time of each call has a bar, in scenarios a second.
const RATE: u64 = 20;

/// Starts agents and measures.
pub async fn measure(bench: &mut AriesBench<'_>, program: &Program) -> Result<(), Error> {
    let staging = Staging::new("open", Kind::Vaccination);
    let stage = bench.stage(program, staging).await?;
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

/// Scenarios that follow each other without pauses.
pub struct Unpaused {
    /// What they gave.
    pub round: Round,
    /// How long they took.
    pub seconds: f64,
    /// The processor of all agents, in percent of one core.
    pub cpu_percent: f64,
}

impl Unpaused {
    /// The scenarios that were finished in a second.
    pub fn scenarios_s(&self) -> f64 {
        self.round.finished as f64 / self.seconds
    }

    /// Scenarios by some users at once, for a time.
    pub async fn measured(bench: &AriesBench<'_>, stage: &AriesStage) -> Self {
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
        let round = Round::of(tasks, || ()).await;
        let seconds = bench.plan.open_for.as_secs_f64();
        let seconds = began.elapsed().as_secs_f64().max(seconds);
        Self {
            round,
            seconds,
            cpu_percent: (stage.usage().cpu_s - before.cpu_s) / seconds * 100.0,
        }
    }
}

/// Scenarios that follow each other for a time.
pub async fn rate(bench: &mut AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    let part = format!("{}scenarios without pauses", bench.prefix);
    bench.progress.begin(&part, 1);
    let unpaused = Unpaused::measured(bench, stage).await;
    bench.progress.advance(1);
    let scenarios = Figure::new("scenarios_s", unpaused.scenarios_s(), "1/s");
    bench.push(scenarios.study(study::SCENARIOS_S).bar(Bar::AtLeast(60.0)));
    // Those of foreign agents are not known.
    if !stage.servers.is_empty() {
        let cpu = Figure::new("open_cpu_percent", unpaused.cpu_percent, "%");
        bench.push(cpu);
    }
    bench.push(unpaused.round.errors("open_errors"));
    let told = TableSubject {
        whose: "Without pauses",
        users: None,
        seconds: unpaused.seconds,
    };
    bench.tell_calls(&told, &unpaused.round);
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
        tasks.spawn(async move { vec![cast.walk(None).await] });
    }
    let round = Round::of(tasks, || bench.progress.advance(1)).await;
    let slowest = round.steps.iter().map(|step| step.quantile(0.95));
    let slowest = slowest.fold(0.0, f64::max);
    let figure = Figure::new("step_p95_ms", slowest, "ms").bar(Bar::AtMost(50.0));
    bench.push(figure.note("the slowest call's"));
    for (name, step) in STEPS.iter().zip(&round.steps) {
        let name = format!("p95_ms_{name}");
        bench.push(Figure::new(name, step.quantile(0.95), "ms"));
    }
    bench.push(round.errors("rate_errors"));
    Ok(())
}

/// The memory over many scenarios, and the bytes that one leaves on the disk.
async fn memory(bench: &mut AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    let count = bench.plan.scenarios;
    bench.progress.begin("memory", count as u64);
    let before = stage.stored();
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
    let after = stage.stored();
    let each = |before: u64, after: u64| after.saturating_sub(before) as f64 / count.max(1) as f64;
    bench.push(Figure::new("rss_mb", late.rss_mb, "MB").bar(Bar::AtMost(150.0)));
    let growth = Figure::new("rss_growth", late.rss_mb / early.max(1.0), "");
    bench.push(growth.note("over that after a tenth of the scenarios"));
    let records = each(before.records, after.records);
    bench.push(Figure::new("wallet_bytes", records, "B"));
    let ledger = each(before.ledger, after.ledger);
    bench.push(Figure::new("ledger_bytes", ledger, "B"));
    bench.push(round.errors("memory_errors"));
    Ok(())
}
