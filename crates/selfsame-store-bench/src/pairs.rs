//! Pairs of issuance and verification through a server, by one user or many.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::flow::{self, Operator};
use selfsame_bench::organisations::data::Site;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use selfsame_bench::tasks::ended;
use selfsame_crypto::generate::random_seed;
use tokio::task::JoinSet;

use crate::StoreBench;

/// The greatest number of users at once.
pub const USERS: usize = 40;

/// Where a server keeps its records, and how it is started.
pub struct Placed {
    /// The data directory.
    pub data: PathBuf,
    /// The schema, if the records are in the database.
    pub schema: Option<String>,
    /// More arguments.
    pub arguments: Vec<String>,
}

/// A server with people.
pub struct PeopledServer {
    /// The process with its client.
    pub site: Site,
    /// The sessions of the people.
    pub people: Vec<String>,
}

impl Placed {
    /// Records in a file.
    pub fn in_a_file(bench: &StoreBench<'_>, name: &str) -> Self {
        Self {
            data: bench.target.scratch.join(name),
            schema: None,
            arguments: Vec::new(),
        }
    }

    /// Records in a schema of the database.
    pub fn in_a_schema(bench: &StoreBench<'_>, name: &str) -> Self {
        Self {
            schema: Some(bench.database.schema(name)),
            ..Self::in_a_file(bench, name)
        }
    }

    /// Starts the server and registers people.
    pub async fn serve(&self, bench: &StoreBench<'_>) -> Result<PeopledServer, Error> {
        let settings = match &self.schema {
            Some(schema) => {
                let url = bench.database.address(schema);
                format!("[database]\nurl = {url:?}\nconnections = 9\n")
            }
            None => String::new(),
        };
        let program = bench.target.program;
        let started = program.start_with(&self.data, &settings, &self.arguments);
        let server = started.await?;
        let client = BenchClient::new(&server.base);
        // A server that is started again knows those of before.
        let [some, ..] = random_seed();
        let first = server.id() as usize * 256_000 + usize::from(some) * 1_000;
        let numbers = first..first + USERS;
        let people = flow::register_all(&client, numbers, bench.progress).await?;
        let site = Site { server, client };
        Ok(PeopledServer { site, people })
    }
}

impl PeopledServer {
    /// Pairs per second by this many users at once, each making one pair after another. The users share the
    /// organisations out among themselves.
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    pub async fn pairs_s(&self, users: usize, time: Duration, at: &Issuers) -> Result<f64, Error> {
        let began = Instant::now();
        let mut working = JoinSet::new();
        for (place, person) in self.people.iter().take(users).enumerate() {
            let user = User {
                client: self.site.client.clone(),
                token: self.site.server.operator.clone(),
                person: person.clone(),
                paths: at.share(place, users),
                kind: at.kind,
            };
            working.spawn(async move {
                let mut pairs = 0_u32;
                for below in user.paths.iter().cycle() {
                    if began.elapsed() >= time {
                        break;
                    }
                    user.pair(below).await?;
                    pairs += 1;
                }
                Ok(pairs)
            });
        }
        let mut pairs = 0;
        while !working.is_empty() {
            pairs += ended(&mut working).await?;
        }
        Ok(f64::from(pairs) / began.elapsed().as_secs_f64())
    }
}

/// Someone who accepts offers and answers requests, with the operator who makes them.
struct User {
    client: BenchClient,
    token: String,
    person: String,
    paths: Vec<String>,
    kind: &'static str,
}

impl User {
    async fn pair(&self, below: &str) -> Result<(), Error> {
        let operator = Operator {
            token: &self.token,
            below,
            kind: self.kind,
        };
        flow::issue(&self.client, operator, &self.person, flow::STUDY_FORMAT).await?;
        flow::verify(&self.client, operator, &self.person, flow::STUDY_FORMAT).await
    }
}

/// Which organisations issue and ask, and for which type.
pub struct Issuers {
    /// What the organisations' paths begin with.
    pub below: Vec<String>,
    /// The credential type.
    pub kind: &'static str,
}

impl Issuers {
    /// The organisation that every instance has.
    pub fn main() -> Self {
        Self {
            below: vec![String::new()],
            kind: flow::SAMPLE,
        }
    }

    /// The organisations of one user: all, if there are fewer than users.
    fn share(&self, place: usize, users: usize) -> Vec<String> {
        if self.below.len() < users {
            return self.below.clone();
        }
        let mine = self.below.iter().skip(place).step_by(users);
        mine.cloned().collect()
    }
}

/// Three processes with a registry in a fourth, by one process, in turns.
pub async fn measure_replicas(bench: &mut StoreBench<'_>) -> Result<(), Error> {
    let sides = [
        Placed::in_a_schema(bench, "replicas_1"),
        Placed {
            arguments: vec!["--replicas".to_owned(), "3".to_owned()],
            ..Placed::in_a_schema(bench, "replicas_3")
        },
    ];
    let rates = in_turns(bench, "pairs on three processes", &sides, async |placed| {
        let served = placed.serve(bench).await?;
        rate(bench, &served, USERS).await
    });
    let [one, three] = rates.await?;
    let note = "three processes and the load on the same cores as one";
    bench.push(ratio("replicas_ratio_3", &three, &one, 0.85).note(note));
    Ok(())
}

/// Measures two sides in turns, in each round.
pub async fn in_turns<T>(
    bench: &StoreBench<'_>,
    part: &str,
    sides: &[T; 2],
    measure: impl AsyncFn(&T) -> Result<f64, Error>,
) -> Result<[Sample; 2], Error> {
    bench.progress.begin(part, bench.plan.rounds as u64);
    let mut rates = [Sample::default(), Sample::default()];
    for _ in 0..bench.plan.rounds {
        for (side, rates) in sides.iter().zip(&mut rates) {
            rates.push(measure(side).await?);
        }
        bench.progress.advance(1);
    }
    Ok(rates)
}

/// The figure of a ratio that must not be smaller than `least`.
pub fn ratio(name: &str, above: &Sample, below: &Sample, least: f64) -> Figure {
    Figure::of(name, &above.ratios_to(below), "").bar(Bar::AtLeast(least))
}

/// Pairs per second, once each user has made one uncounted.
pub async fn rate(
    bench: &StoreBench<'_>,
    served: &PeopledServer,
    users: usize,
) -> Result<f64, Error> {
    let at = Issuers::main();
    served.pairs_s(users, Duration::from_millis(1), &at).await?;
    served.pairs_s(users, bench.plan.rate_for, &at).await
}
