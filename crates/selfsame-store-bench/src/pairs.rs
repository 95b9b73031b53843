//! Pairs of issuance and verification through a server, by one user or many.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfsame_bench::client::BenchClient;
use selfsame_bench::flow::{self, Operator};
use selfsame_bench::organisations::data::Site;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use selfsame_bench::{Error, Progress};
use selfsame_crypto::generate::random_seed;
use tokio::task::JoinSet;

use crate::StoreBench;

/// The greatest number of users at once.
pub const USERS: usize = 40;
/// Argon2id takes the memory and time of a registration.
const REGISTERED_AT_ONCE: usize = 4;

/// Where a server keeps its records, and how it is started.
pub struct Placed {
    /// The data directory.
    pub data: PathBuf,
    /// Lines of the settings file.
    pub settings: String,
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
    pub fn in_a_file(scratch: &Path, name: &str) -> Self {
        Self {
            data: scratch.join(name),
            settings: String::new(),
            arguments: Vec::new(),
        }
    }

    /// Records in a schema of the database.
    pub fn in_a_schema(bench: &StoreBench<'_>, name: &str) -> (Self, String) {
        let schema = bench.database.schema(name);
        let url = bench.database.address(&schema);
        let placed = Self {
            settings: format!("[database]\nurl = {url:?}\nconnections = 9\n"),
            ..Self::in_a_file(bench.target.scratch, name)
        };
        (placed, schema)
    }

    /// Starts the server and registers people.
    pub async fn serve(
        &self,
        bench: &StoreBench<'_>,
        people: usize,
    ) -> Result<PeopledServer, Error> {
        let program = bench.target.program;
        let started = program.start_with(&self.data, &self.settings, &self.arguments);
        let server = started.await?;
        let client = BenchClient::new(&server.base);
        let mut served = PeopledServer {
            site: Site { server, client },
            people: Vec::new(),
        };
        served.register(people, bench.progress).await?;
        Ok(served)
    }
}

impl PeopledServer {
    async fn register(&mut self, count: usize, progress: &dyn Progress) -> Result<(), Error> {
        progress.begin("registering people", count as u64);
        let mut registering = JoinSet::new();
        let [first, ..] = random_seed();
        let first = self.site.server.id() as usize * 256_000 + usize::from(first) * 1_000;
        for number in 0..count {
            let client = self.site.client.clone();
            registering.spawn(async move { flow::register(&client, first + number).await });
            if registering.len() >= REGISTERED_AT_ONCE {
                self.people.push(ended(&mut registering).await?);
                progress.advance(1);
            }
        }
        while !registering.is_empty() {
            self.people.push(ended(&mut registering).await?);
        }
        Ok(())
    }

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
    let (one, _) = Placed::in_a_schema(bench, "replicas_1");
    let (three, _) = Placed::in_a_schema(bench, "replicas_3");
    let three = Placed {
        arguments: vec!["--replicas".to_owned(), "3".to_owned()],
        ..three
    };
    let sides = [one, three];
    let mut rates = [Sample::default(), Sample::default()];
    for _ in 0..bench.plan.rounds {
        for (placed, rates) in sides.iter().zip(&mut rates) {
            let served = placed.serve(bench, USERS).await?;
            rates.push(rate(bench, &served, USERS).await?);
        }
    }
    let [one, three] = &rates;
    let ratios = ratios(three, one);
    bench.push(
        Figure::new("replicas_ratio_3", ratios.median(), "")
            .spread(ratios.range())
            .bar(Bar::AtLeast(0.85))
            .note("three processes and the load on the same cores as one"),
    );
    Ok(())
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

/// The ratio in each round.
pub fn ratios(above: &Sample, below: &Sample) -> Sample {
    let mut ratios = Sample::default();
    for (above, below) in above.values().iter().zip(below.values()) {
        ratios.push(above / below.max(f64::EPSILON));
    }
    ratios
}

/// What the next of the tasks that ends has done.
async fn ended<T: 'static>(tasks: &mut JoinSet<Result<T, Error>>) -> Result<T, Error> {
    match tasks.join_next().await {
        Some(joined) => joined.map_err(|error| Error::Server(error.to_string()))?,
        None => Err(Error::Server("no task is under way".to_owned())),
    }
}
