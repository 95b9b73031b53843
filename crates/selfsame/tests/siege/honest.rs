//! Honest users during an attack: their requests, and how long these take.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use url::Url;

use crate::http::Request;
use crate::rig::{World, offer, take};
use crate::{RECOVERY, url};

const EMAIL: &str = "honest@example.org";
const PASSWORD: &str = "rain on the tin roof";
/// The address of honest users.
const ADDRESS: &str = "198.51.100.7";

/// A user of the instance.
pub struct Honest {
    origin: Url,
    watched: Url,
}

/// How long the honest requests took.
#[derive(Default)]
pub struct Report {
    took: Vec<Duration>,
    lives: Vec<Duration>,
    requests: usize,
    pub refused: usize,
    pub memory: u64,
    first_refusal: Option<String>,
}

impl Honest {
    /// A person with a card, so that there is a status list to read.
    pub fn of(world: &World, watched: u16) -> Self {
        let account = json!({ "email": EMAIL, "password": PASSWORD });
        let made = world.anybody().request("POST", "/api/wallet/register");
        let made = made
            .header("X-Forwarded-For", ADDRESS)
            .json(&account)
            .send();
        let token = made.unwrap().json()["token"].as_str().unwrap().to_owned();
        take(
            &world.anybody().with_token(&token),
            &offer(&world.operator, &json!({})),
        );
        Self {
            origin: world.operator.origin.clone(),
            watched: Url::parse(&format!("http://127.0.0.1:{watched}/livez")).unwrap(),
        }
    }

    fn requests(&self) -> [Request; 4] {
        let get = |path| Request::new("GET", &url(&self.origin, path));
        let post = |path| Request::new("POST", &url(&self.origin, path));
        let account = json!({ "email": EMAIL, "password": PASSWORD });
        [
            get("status/0"),
            get(""),
            post("issuer/nonce"),
            post("api/wallet/sessions").json(&account),
        ]
        .map(|request| request.header("X-Forwarded-For", ADDRESS))
    }

    /// Sends requests until both the time is over and `meanwhile` has returned.
    pub fn during(&self, least: Duration, meanwhile: impl FnOnce()) -> Report {
        let (over, report) = (AtomicBool::new(false), Mutex::new(Report::default()));
        let began = Instant::now();
        let goes_on = || !over.load(Ordering::Relaxed) || began.elapsed() < least;
        std::thread::scope(|scope| {
            for request in self.requests() {
                let (report, goes_on) = (&report, &goes_on);
                scope.spawn(move || {
                    while goes_on() {
                        let (took, refusal) = timed(&request);
                        report.lock().unwrap().note(took, refusal);
                        std::thread::sleep(Duration::from_millis(100));
                    }
                });
            }
            let life = Request::new("GET", &self.watched);
            let (lives, go_on) = (&report, &goes_on);
            scope.spawn(move || {
                while go_on() {
                    let (took, _) = timed(&life);
                    lives.lock().unwrap().lives.push(took);
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            // Also after a panic: the scope waits for the other threads.
            let _ended = Ended(&over);
            meanwhile();
        });
        report.into_inner().unwrap()
    }

    /// How long it takes until every request takes at most three times as long as without an attack, plus a tenth of a
    /// second.
    pub fn recovery(&self, calm: &Report) -> Duration {
        let (began, usual) = (
            Instant::now(),
            calm.slowest() * 3 + Duration::from_millis(100),
        );
        loop {
            let mut all = self.requests().into_iter().map(|request| timed(&request));
            if all.all(|(took, refusal)| refusal.is_none() && took <= usual) {
                return began.elapsed();
            }
            if began.elapsed() > RECOVERY * 4 {
                return began.elapsed();
            }
        }
    }
}

/// Sets the flag when dropped.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn timed(request: &Request) -> (Duration, Option<String>) {
    let began = Instant::now();
    let reply = request.send();
    let took = began.elapsed();
    let refusal = match reply {
        Ok(reply) if reply.is_success() => None,
        Ok(reply) => Some(format!("{request:?}: {}", reply.status)),
        Err(error) => Some(format!("{request:?}: {error}")),
    };
    (took, refusal)
}

fn p99(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let place = times.len().saturating_sub(1) * 99 / 100;
    times.get(place).copied().unwrap_or_default()
}

impl Report {
    fn note(&mut self, took: Duration, refusal: Option<String>) {
        self.took.push(took);
        if let Some(refusal) = refusal {
            self.refused += 1;
            self.first_refusal.get_or_insert(refusal);
        }
    }

    /// Keeps the worse of both.
    pub fn add(&mut self, other: &Self, memory: u64) {
        if other.slowest() >= self.slowest() {
            self.took.clone_from(&other.took);
        }
        if other.life() >= self.life() {
            self.lives.clone_from(&other.lives);
        }
        self.memory = self.memory.max(memory);
        self.requests += other.took.len();
        self.refused += other.refused;
    }

    pub fn requests(&self) -> usize {
        self.requests.max(self.took.len())
    }

    pub fn slowest(&self) -> Duration {
        p99(&self.took)
    }

    pub fn life(&self) -> Duration {
        p99(&self.lives)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} honest requests, {} refused, p99 {:.0?}, livez p99 {:.0?}",
            self.requests(),
            self.refused,
            self.slowest(),
            self.life()
        )?;
        match &self.first_refusal {
            Some(refusal) => write!(f, " (first refused: {refusal})"),
            None => Ok(()),
        }
    }
}
