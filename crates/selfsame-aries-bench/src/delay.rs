//! Agents that are far from each other: each message arrives later than it was sent, and users do not pause.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::process::Program;
use selfsame_bench::report::Figure;
use tokio::task::JoinSet;

use crate::agents::Kind;
use crate::round::Round;
use crate::scenario::now;
use crate::stage::{AriesStage, Staging};
use crate::study::STEPS;
use crate::table::TableSubject;
use crate::{AriesBench, point};

/// How much later a message arrives, in milliseconds.
const DELAYS: [u64; 3] = [20, 50, 100];
/// How many users there are. They are few, so that the agents' work takes little of the time.
const USERS: usize = 4;

/// Starts agents for each delay and measures.
pub async fn measure(bench: &mut AriesBench<'_>, program: &Program) -> Result<(), Error> {
    for delay in DELAYS {
        let name = format!("delay-{delay}");
        let staging = Staging {
            delay: Some(Duration::from_millis(delay)),
            ..Staging::new(&name, Kind::Vaccination)
        };
        let stage = bench.stage(program, staging).await?;
        if let Some(error) = stage.cast.walk(None).await.failed {
            return Err(error);
        }
        let (round, seconds) = far(bench, &stage, delay).await;
        for (name, sample) in STEPS.iter().zip(&round.steps) {
            point(&mut bench.distances, name, delay as f64, sample.mean());
            let mean = format!("mean_ms_delay_{delay}_{name}");
            bench.push(Figure::new(mean, sample.mean(), "ms"));
            let p95 = format!("p95_ms_delay_{delay}_{name}");
            bench.push(Figure::new(p95, sample.quantile(0.95), "ms"));
        }
        bench.push(round.errors(format!("errors_delay_{delay}")));
        let told = TableSubject {
            whose: &format!("{delay} ms in each direction between agents"),
            users: None,
            seconds,
        };
        bench.tell_calls(&told, &round);
    }
    Ok(())
}

/// Some users, each with scenarios one after another. Returns how many seconds they took too.
async fn far(bench: &AriesBench<'_>, stage: &AriesStage, delay: u64) -> (Round, f64) {
    let each = bench.plan.far;
    let part = format!("{delay} ms between agents");
    bench.progress.begin(&part, (USERS * each) as u64);
    let began = now();
    let mut tasks = JoinSet::new();
    for _ in 0..USERS {
        let cast = stage.cast.clone();
        tasks.spawn(async move {
            let mut walked = Vec::new();
            for _ in 0..each {
                walked.push(cast.walk(None).await);
            }
            walked
        });
    }
    let round = Round::of(tasks, || bench.progress.advance(1)).await;
    (round, began.elapsed().as_secs_f64())
}
