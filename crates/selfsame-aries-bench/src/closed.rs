//! Users who pause between calls, as the study's do: each figure of its Table III.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::process::Program;
use selfsame_bench::report::Figure;
use selfsame_bench::statistics::Sample;
use tokio::task::JoinSet;

use crate::agents::Kind;
use crate::round::Round;
use crate::scenario::now;
use crate::stage::{AgentUsage, AriesStage, Staging};
use crate::study::{self, STEPS};
use crate::table::TableSubject;
use crate::think::{SCENARIO_S, Thinking};
use crate::{AriesBench, point};

/// A round of users who pause, with what the agents used for it.
pub struct Paused {
    /// What it gave.
    pub round: Round,
    /// How many users they are.
    pub users: usize,
    /// How long it took.
    pub seconds: f64,
    /// What each process used.
    pub used: Vec<AgentUsage>,
}

/// Starts agents and measures all rounds: those of the study with a process for each agent, as the study had a server for
/// each, and those of more users with all agents in one process.
pub async fn measure(
    bench: &mut AriesBench<'_>,
    program: &Program,
    users: &[usize],
) -> Result<(), Error> {
    let users = users.iter().copied();
    let (of_study, more): (Vec<usize>, Vec<usize>) = users.partition(|users| study::has(*users));
    if !of_study.is_empty() {
        let stage = bench.apart(program, Kind::Vaccination).await?;
        rounds(bench, &stage, &of_study).await?;
    }
    if more.is_empty() {
        return Ok(());
    }
    let staging = Staging::new("closed", Kind::Vaccination);
    let stage = bench.stage(program, staging).await?;
    rounds(bench, &stage, &more).await
}

/// Measures a round for each number of users.
pub async fn rounds(
    bench: &mut AriesBench<'_>,
    stage: &AriesStage,
    users: &[usize],
) -> Result<(), Error> {
    for count in users.iter().copied() {
        let paused = Paused::round(bench, stage, count).await;
        for (sample, step) in paused.round.steps.iter().zip(0..) {
            push_step(bench, sample, step, count);
        }
        let calls = Figure::new(format!("calls_s_{count}"), paused.calls_s(), "1/s");
        let of_study = study::throughput(count).filter(|_| !bench.plan.quick);
        bench.push(match of_study {
            Some(study) => calls.study(study),
            None => calls,
        });
        bench.push(paused.round.errors(format!("errors_{count}")));
        bench.push(failed_percent(&paused));
        push_used(bench, &paused);
        tell(bench, &format!("{count} users"), &paused);
    }
    Ok(())
}

/// Adds the tables of a round.
pub fn tell(bench: &mut AriesBench<'_>, whose: &str, paused: &Paused) {
    let told = TableSubject {
        whose,
        users: Some(paused.users),
        seconds: paused.seconds,
    };
    bench.tell_calls(&told, &paused.round);
    bench.tell_agents(&told, &paused.used);
}

fn failed_percent(paused: &Paused) -> Figure {
    let failed = paused.round.failed() as f64;
    let sent = paused.round.calls() as f64 + failed;
    let name = format!("failed_percent_{}", paused.users);
    let figure = Figure::new(name, failed / sent.max(1.0) * 100.0, "%");
    match study::failed(paused.users) {
        Some(study) => figure.study(study),
        None => figure,
    }
}

/// What the processes used together, and each if there are several. Those of foreign agents are not known.
fn push_used(bench: &mut AriesBench<'_>, paused: &Paused) {
    if paused.used.is_empty() {
        return;
    }
    let users = paused.users;
    let cpu = Figure::new(format!("cpu_percent_{users}"), paused.cpu_percent(), "%");
    bench.push(cpu);
    if paused.used.len() == 1 {
        return;
    }
    for AgentUsage { name, usage } in &paused.used {
        let cpu = usage.cpu_s / paused.seconds * 100.0;
        let cpu = Figure::new(format!("cpu_percent_{users}_{name}"), cpu, "%");
        bench.push(match study::cpu(name, users) {
            Some(study) if !bench.plan.quick => cpu.study(study),
            _ => cpu,
        });
        let memory = format!("rss_mb_{users}_{name}");
        bench.push(Figure::new(memory, usage.rss_mb, "MB"));
    }
}

fn push_step(bench: &mut AriesBench<'_>, sample: &Sample, step: usize, users: usize) {
    let name = STEPS.get(step).copied().unwrap_or_default();
    if bench.prefix.is_empty() {
        point(&mut bench.means, name, users as f64, sample.mean());
    }
    let figure = Figure::new(format!("mean_ms_{users}_{name}"), sample.mean(), "ms");
    bench.push(match study::response(step, users) {
        Some(study) => figure.study(study.mean),
        None => figure,
    });
}

impl Paused {
    /// A number of users, each with some scenarios one after another. They come one by one, over the time of one scenario.
    pub async fn round(bench: &AriesBench<'_>, stage: &AriesStage, users: usize) -> Self {
        let (each, haste) = (bench.plan.each, bench.plan.haste);
        let part = format!("{}{users} users", bench.prefix);
        let count = users.div_ceil(bench.plan.thinned);
        bench.progress.begin(&part, (count * each) as u64);
        let (before, began) = (stage.used(), now());
        let mut tasks = JoinSet::new();
        for user in 0..count {
            let cast = stage.cast.clone();
            let later = SCENARIO_S / haste * user as f64 / count as f64;
            tasks.spawn(async move {
                tokio::time::sleep(Duration::from_secs_f64(later)).await;
                let mut walked = Vec::new();
                for turn in 0..each {
                    let thinking = Thinking::new(haste, user * each + turn);
                    walked.push(cast.walk(Some(thinking)).await);
                }
                walked
            });
        }
        let round = Round::of(tasks, || bench.progress.advance(1)).await;
        Self {
            round,
            users,
            seconds: began.elapsed().as_secs_f64(),
            used: stage.used_since(&before),
        }
    }

    /// The calls that were answered in a second.
    pub fn calls_s(&self) -> f64 {
        self.round.calls() as f64 / self.seconds
    }

    /// The processor of all processes, in percent of one core.
    pub fn cpu_percent(&self) -> f64 {
        let seconds: f64 = self.used.iter().map(|one| one.usage.cpu_s).sum();
        seconds / self.seconds * 100.0
    }
}
