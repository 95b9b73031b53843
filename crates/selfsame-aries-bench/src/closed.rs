//! Users who pause between calls, as the study's do: each figure of its Table III.

use selfsame_bench::Error;
use selfsame_bench::chart::Line;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use tokio::task::JoinSet;

use crate::AriesBench;
use crate::agents::{AriesStage, Kind};
use crate::scenario::{Walked, now};
use crate::study::{self, STEPS};
use crate::think::Thinking;

/// The result of one round.
#[derive(Default)]
pub struct Round {
    /// The times of each call.
    pub steps: [Sample; 14],
    /// The scenarios that were finished.
    pub finished: usize,
    /// The calls that failed, and the first reason.
    pub failed: usize,
    pub why: Option<String>,
}

impl Round {
    /// Adds a scenario.
    pub fn add(&mut self, walked: Walked) {
        for (sample, time) in self.steps.iter_mut().zip(walked.times) {
            sample.add(time);
        }
        match walked.failed {
            None => self.finished += 1,
            Some(error) => {
                self.failed += 1;
                self.why.get_or_insert(error.to_string());
            }
        }
    }

    /// The number of calls that were answered.
    pub fn calls(&self) -> usize {
        self.steps.iter().map(Sample::len).sum()
    }
}

/// Starts agents and measures all rounds.
pub async fn measure(bench: &mut AriesBench<'_>) -> Result<(), Error> {
    let stage = bench.stage("closed", Kind::Vaccination).await?;
    rounds(bench, &stage).await
}

/// Measures a round for each number of users.
pub async fn rounds(bench: &mut AriesBench<'_>, stage: &AriesStage) -> Result<(), Error> {
    let users = bench.plan.users;
    let mut lines = STEPS.map(|name| Line {
        name: name.to_owned(),
        points: Vec::new(),
    });
    for count in users.iter().copied() {
        let (before, began) = (stage.usage(), now());
        let round = round(bench, stage, count).await;
        let seconds = began.elapsed().as_secs_f64();
        let cpu = (stage.usage().cpu_s - before.cpu_s) / seconds * 100.0;
        for ((line, sample), step) in lines.iter_mut().zip(&round.steps).zip(0..) {
            line.points.push((count as f64, sample.mean()));
            push_step(bench, sample, step, count);
        }
        let mut calls = Figure::new(
            format!("calls_s_{count}"),
            round.calls() as f64 / seconds,
            "1/s",
        );
        if let Some(study) = study::throughput(count).filter(|_| !bench.plan.quick) {
            calls = calls.study(study);
        }
        bench.figures.push(calls);
        bench
            .figures
            .push(Figure::new(format!("cpu_percent_{count}"), cpu, "%"));
        bench.figures.push(failures(&round, count));
    }
    bench.lines.extend(lines);
    Ok(())
}

fn failures(round: &Round, users: usize) -> Figure {
    let mut figure = Figure::new(format!("errors_{users}"), round.failed as f64, "");
    if let Some(study) = study::failed(users) {
        figure = figure.study(study);
    }
    if let Some(why) = &round.why {
        figure = figure.note(why.clone());
    }
    figure.bar(Bar::AtMost(0.0))
}

fn push_step(bench: &mut AriesBench<'_>, sample: &Sample, step: usize, users: usize) {
    let name = STEPS.get(step).copied().unwrap_or_default();
    let note = format!(
        "median {:.1}, p95 {:.1}, p99 {:.1}, min {:.1}, max {:.1}",
        sample.median(),
        sample.quantile(0.95),
        sample.quantile(0.99),
        sample.quantile(0.0),
        sample.quantile(1.0),
    );
    let figure = Figure::new(format!("mean_ms_{users}_{name}"), sample.mean(), "ms").note(note);
    bench.figures.push(match study::mean(step, users) {
        Some(study) => figure.study(study),
        None => figure,
    });
}

/// So many users, each with some scenarios one after another. They come one by one, over the time of one scenario.
async fn round(bench: &AriesBench<'_>, stage: &AriesStage, users: usize) -> Round {
    let (each, haste) = (bench.plan.each, bench.plan.haste);
    bench
        .progress
        .begin(&format!("{users} users"), (users * each) as u64);
    let mut tasks = JoinSet::new();
    for user in 0..users {
        let cast = stage.cast.clone();
        let later = 72.0 / haste * user as f64 / users as f64;
        tasks.spawn(async move {
            tokio::time::sleep(std::time::Duration::from_secs_f64(later)).await;
            let mut walked = Vec::new();
            for turn in 0..each {
                let thinking = Thinking::new(haste, user * each + turn);
                walked.push(cast.walk(Some(thinking)).await);
            }
            walked
        });
    }
    let mut round = Round::default();
    while let Some(walked) = tasks.join_next().await {
        for walked in walked.unwrap_or_default() {
            round.add(walked);
            bench.progress.advance(1);
        }
    }
    round
}
