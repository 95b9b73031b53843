//! Issuance and verification separately, with 1 to 40 simultaneous users, as in the study.

use std::time::{Duration, Instant};

use super::{Oid4vcBench, Stage};
use crate::Error;
use crate::chart::{Chart, Line};
use crate::flow::{self, Operator};
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

const USERS: [usize; 5] = [1, 10, 20, 30, 40];

/// What the names of figures end in if the issuer's DID is one of a ledger, behind a resolver.
pub const LEDGER: &str = "_cheqd";

/// A measured flow of one person.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flow {
    /// An offer is made and accepted.
    Issue,
    /// A request is made, answered and judged.
    Verify,
}

impl Flow {
    /// Its name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Verify => "verify",
        }
    }

    /// The study's mean on its PC with this many users, in milliseconds: with did:key, or with did:cheqd if the figures'
    /// names end so.
    fn study(self, users: usize, suffix: &str) -> Option<f64> {
        match (self, users, suffix) {
            (Self::Issue, 1, LEDGER) => Some(3980.0),
            (Self::Issue, 40, LEDGER) => Some(30_140.0),
            (Self::Verify, 1, LEDGER) => Some(4590.0),
            (Self::Verify, 40, LEDGER) => Some(30_020.0),
            (Self::Issue, 1, _) => Some(100.0),
            (Self::Issue, 40, _) => Some(2080.0),
            (Self::Verify, 1, _) => Some(110.0),
            (Self::Verify, 40, _) => Some(1440.0),
            _ => None,
        }
    }
}

/// The results of one burst.
#[derive(Default)]
pub struct Burst {
    /// The times of the successful requests, in milliseconds.
    pub times: Sample,
    /// The number of failed requests.
    pub failed: usize,
    /// The reason of the first failure.
    pub why: Option<String>,
}

/// Measures both flows. `suffix` distinguishes the figures of another setting.
pub async fn measure(
    bench: &mut Oid4vcBench<'_>,
    stage: &mut Stage,
    suffix: &str,
) -> Result<(), Error> {
    stage.people(40, bench.progress).await?;
    // Each person must hold a credential before verification is measured.
    let filled = burst(stage, Flow::Issue, 40, 1).await;
    expect_none_failed(&filled)?;
    let mut lines = Vec::new();
    for flow in [Flow::Issue, Flow::Verify] {
        bench.progress.begin(
            &format!("1 to 40 users, {}", flow.name()),
            USERS.len() as u64,
        );
        let mut points = Vec::new();
        for users in USERS {
            let mut means = Sample::default();
            for _ in 0..bench.plan.user_repetitions {
                let burst = burst(stage, flow, users, 1).await;
                expect_none_failed(&burst)?;
                means.push(burst.times.mean());
            }
            points.push((users as f64, means.mean()));
            let mut figure = Figure::new(
                format!("mean_ms_{users}_{}{suffix}", flow.name()),
                means.mean(),
                "ms",
            )
            .spread(means.deviation());
            if let Some(study) = flow.study(users, suffix) {
                figure = figure.study(study);
            }
            if users == 40 && suffix.is_empty() {
                figure = figure.bar(Bar::AtMost(100.0));
            }
            bench.figures.push(figure);
            bench.progress.advance(1);
        }
        lines.push(Line {
            name: flow.name().to_owned(),
            points,
        });
    }
    bench.charts.push(Chart {
        title: format!(
            "Mean response time by users{}, ms",
            suffix.replace('_', " ")
        ),
        x: "users".to_owned(),
        lines,
    });
    Ok(())
}

/// Runs the flow for `users` people at once; each makes `each` requests one after another.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub async fn burst(stage: &Stage, flow: Flow, users: usize, each: usize) -> Burst {
    let mut people = tokio::task::JoinSet::new();
    for person in stage.people.iter().take(users) {
        let (client, token, person) = (
            stage.client.clone(),
            stage.server.operator.clone(),
            person.clone(),
        );
        people.spawn(async move {
            let mut done: Vec<Result<Duration, String>> = Vec::with_capacity(each);
            for _ in 0..each {
                let operator = Operator::main(&token);
                let began = Instant::now();
                let result = match flow {
                    Flow::Issue => {
                        flow::issue(&client, operator, &person, flow::STUDY_FORMAT).await
                    }
                    Flow::Verify => {
                        flow::verify(&client, operator, &person, flow::STUDY_FORMAT).await
                    }
                };
                done.push(
                    result
                        .map(|()| began.elapsed())
                        .map_err(|error| error.to_string()),
                );
            }
            done
        });
    }
    let mut burst = Burst::default();
    while let Some(done) = people.join_next().await {
        for result in done.unwrap_or_else(|error| vec![Err(error.to_string())]) {
            match result {
                Ok(time) => burst.times.add(time),
                Err(why) => {
                    burst.failed += 1;
                    burst.why.get_or_insert(why);
                }
            }
        }
    }
    burst
}

fn expect_none_failed(burst: &Burst) -> Result<(), Error> {
    match &burst.why {
        None => Ok(()),
        Some(why) => Err(Error::Call {
            what: "with 40 users or fewer".to_owned(),
            why: why.clone(),
        }),
    }
}
