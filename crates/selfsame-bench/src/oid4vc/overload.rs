//! 100 to 1,000 users and more until the first request fails, then the time in which the server recovers.

use std::time::{Duration, Instant};

use super::users::{Flow, burst};
use super::{Oid4vcBench, Stage};
use crate::Error;
use crate::flow;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

const USERS: [usize; 3] = [100, 400, 1000];
/// The number of simultaneous requests at which the study's wallet halts and stays down until it is restarted.
const STUDY_HALTS: f64 = 110.0;

/// Measures both flows under load, then the first failure and the recovery.
pub async fn measure(bench: &mut Oid4vcBench<'_>, stage: &mut Stage) -> Result<(), Error> {
    let each = bench.plan.requests_each;
    let mut failed_at_1000 = 0;
    let mut first_failure = None;
    for users in USERS {
        let count = users / bench.plan.thinned;
        stage.people(count, bench.progress).await?;
        for flow in [Flow::Issue, Flow::Verify] {
            bench
                .progress
                .begin(&format!("{users} users, {}", flow.name()), 1);
            let burst = burst(stage, flow, count, each).await;
            if users == 1000 {
                failed_at_1000 += burst.failed;
            }
            let name = |what: &str| format!("{what}_{users}_{}", flow.name());
            let mut median = Figure::new(name("p50_ms"), burst.times.median(), "ms");
            if let Some(why) = &burst.why {
                let note = format!("{} failed, first: {why}", burst.failed);
                first_failure.get_or_insert((users, note.clone()));
                median = median.note(note);
            }
            bench.figures.push(median);
            bench.figures.push(Figure::new(
                name("p95_ms"),
                burst.times.quantile(0.95),
                "ms",
            ));
            bench.progress.advance(1);
        }
    }
    bench.figures.push(
        Figure::new("failed_at_1000", failed_at_1000 as f64, "requests")
            .bar(Bar::AtMost(0.0))
            .note(format!("of {}", 2 * 1000 * each)),
    );
    bench.figures.push(
        Figure::new("rss_mb_1000", stage.server.usage().peak_mb, "MB").bar(Bar::AtMost(150.0)),
    );
    match first_failure {
        Some((users, note)) => push_first_failure(bench, users, note),
        None => until_failure(bench, stage).await?,
    }
    recovery(bench, stage).await
}

/// Doubles the users until a request fails or the plan's limit is reached.
async fn until_failure(bench: &mut Oid4vcBench<'_>, stage: &mut Stage) -> Result<(), Error> {
    let mut users = 1000;
    let mut note = format!("none failed with {users} users, the most that were tried");
    while users * 2 <= bench.plan.users_max {
        users *= 2;
        // People may be used several times: only the number of simultaneous requests matters.
        let whole = stage.people.len();
        let turns = users.div_ceil(whole);
        let mut crowd = stage.people.clone();
        for _ in 1..turns {
            crowd.extend_from_slice(&stage.people[..whole.min(users - crowd.len())]);
        }
        let people = std::mem::replace(&mut stage.people, crowd);
        bench
            .progress
            .begin(&format!("{users} requests at once"), 1);
        let burst = burst(stage, Flow::Issue, users, 1).await;
        stage.people = people;
        bench.progress.advance(1);
        if burst.failed > 0 {
            note = format!(
                "{} of {users} failed, first: {}",
                burst.failed,
                burst.why.unwrap_or_default()
            );
            break;
        }
        note = format!("none failed with {users} at once, the most that were tried");
    }
    push_first_failure(bench, users, note);
    Ok(())
}

fn push_first_failure(bench: &mut Oid4vcBench<'_>, users: usize, note: String) {
    bench.figures.push(
        Figure::new("first_failure_users", users as f64, "users")
            .study(STUDY_HALTS)
            .note(note),
    );
}

/// Measures the time until pairs are as fast as before the overload, without a restart.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn recovery(bench: &mut Oid4vcBench<'_>, stage: &mut Stage) -> Result<(), Error> {
    bench.progress.begin("recovery", 1);
    let usual = bench
        .figures
        .iter()
        .find(|figure| figure.name == "mean_ms_1_issue")
        .map_or(f64::INFINITY, |figure| figure.value);
    let began = Instant::now();
    let recovered = loop {
        let mut sample = Sample::default();
        for _ in 0..10 {
            let call = Instant::now();
            if flow::issue(
                &stage.client,
                stage.operator(),
                &stage.people[0],
                flow::STUDY_FORMAT,
            )
            .await
            .is_ok()
            {
                sample.add(call.elapsed());
            }
        }
        // A call may take one and a half times as long because of other work on this machine.
        if sample.len() == 10 && sample.median() <= usual * 1.5 {
            break began.elapsed();
        }
        if began.elapsed() > Duration::from_secs(60) || !stage.server.runs() {
            break Duration::from_secs(60);
        }
    };
    bench.figures.push(
        Figure::new("recovered_s", recovered.as_secs_f64(), "s")
            .bar(Bar::AtMost(5.0))
            .note("until ten issuances in a row take no more than 1.5 times what they took before"),
    );
    bench.progress.advance(1);
    Ok(())
}
