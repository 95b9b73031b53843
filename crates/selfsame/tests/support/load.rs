//! Flows of many people against several processes, during faults: what was acknowledged is there, and nothing is there
//! twice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Api, Reply};
use crate::rig::{items, person, text};

/// After this time another process has taken over what a killed one held.
pub const TAKEN_OVER: Duration = Duration::from_secs(15);
const PEOPLE: usize = 8;
/// A person presents a credential after each of this many flows.
const PRESENTED_EVERY: usize = 4;

/// The running flows.
pub struct Load<'a> {
    done: &'a AtomicUsize,
}

impl Load<'_> {
    /// Waits until each person has taken two more offers on average.
    pub fn goes_on(&self, within: Duration) {
        let (begun, before) = (Instant::now(), self.done());
        while self.done() < before + 2 * PEOPLE {
            assert!(begun.elapsed() < within, "flows do not go on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Flows a second, during this time.
    pub fn rate(&self, during: Duration) -> f64 {
        let (begun, before) = (Instant::now(), self.done());
        std::thread::sleep(during);
        (self.done() - before) as f64 / begun.elapsed().as_secs_f64()
    }

    /// The number of flows that have ended.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }
}

/// Ends the flows, also when a test fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs flows of many people during `faults`. Compares what was acknowledged with what is there.
pub fn under_load(operator: &Api, faults: impl FnOnce(&Load<'_>)) {
    let people: Vec<Api> = (0..PEOPLE)
        .map(|number| person(&operator.with_token(""), &format!("person-{number}")))
        .collect();
    let (ends, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let worked: Vec<ClientLog> = std::thread::scope(|scope| {
        let (ends, done) = (&ends, &done);
        let working: Vec<_> = people
            .iter()
            .map(|person| scope.spawn(move || flows(operator, person, ends, done)))
            .collect();
        let ending = Ending(ends);
        faults(&Load { done });
        drop(ending);
        working.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let spent: usize = worked.iter().map(|log| log.spent.len()).sum();
    assert!(spent <= 2 * PEOPLE, "{spent} offers were spent for nothing");
    std::thread::scope(|scope| {
        for (person, log) in people.iter().zip(&worked) {
            scope.spawn(|| log.compare(operator, person));
        }
    });
}

/// What a client has seen.
#[derive(Default)]
struct ClientLog {
    /// Offers that were taken.
    taken: Vec<Value>,
    /// Offers whose code was redeemed by a process that was killed before it gave a token for it. A code works once
    /// (OpenID4VCI §3.5), so the person needs another offer.
    spent: Vec<Value>,
    /// Requests that were answered, with the verdict that the credential is valid.
    judged: Vec<Value>,
}

impl ClientLog {
    /// What was acknowledged is there, and nothing is there twice.
    fn compare(&self, operator: &Api, person: &Api) {
        // A credential that was issued for a process that was killed then becomes a card once another one has taken over,
        // which tries again later if its first call comes to nothing.
        let began = Instant::now();
        while cards(person) < self.taken.len() && began.elapsed() < 3 * TAKEN_OVER {
            std::thread::sleep(Duration::from_millis(200));
        }
        assert_eq!(cards(person), self.taken.len());
        for given in &self.taken {
            assert_eq!(issued_for(operator, given), 1);
        }
        for given in &self.spent {
            assert_eq!(issued_for(operator, given), 0);
        }
        for asked in &self.judged {
            assert_eq!(verdict_on(operator, asked)["verdict"]["outcome"], "valid");
        }
    }
}

/// The number of a person's cards.
fn cards(person: &Api) -> usize {
    let (mut count, mut cursor) = (0, String::new());
    loop {
        let path = format!("/api/wallet/credentials?limit=200{cursor}");
        let page = until_answered(|| person.send("GET", &path, None));
        count += items(&page).len();
        match page["next"].as_str() {
            Some(next) => cursor = format!("&after={next}"),
            None => return count,
        }
    }
}

/// Takes one offer after the other.
fn flows(operator: &Api, person: &Api, ends: &AtomicBool, done: &AtomicUsize) -> ClientLog {
    let (mut log, mut unclear) = (ClientLog::default(), Vec::new());
    while !ends.load(Ordering::Relaxed) {
        let given =
            until_answered(|| operator.send("POST", "/api/issuer/offers", Some(&immunization())));
        match is_accepted(person, &given) {
            true => log.taken.push(given),
            // Another process may still finish it. The person goes on meanwhile.
            false => unclear.push(given),
        }
        done.fetch_add(1, Ordering::Relaxed);
        if log.taken.len() % PRESENTED_EVERY == 1 {
            log.judged.push(presented(operator, person));
        }
    }
    for given in unclear {
        match is_taken(operator, person, &given) {
            true => log.taken.push(given),
            false => log.spent.push(given),
        }
    }
    log
}

/// Has a person present a credential, and returns the request. An answer that was lost on its way back counts: the
/// verifier knows.
fn presented(operator: &Api, person: &Api) -> Value {
    let asked = json!({"type": "immunization"});
    let asked = until_answered(|| operator.send("POST", "/api/verifier/requests", Some(&asked)));
    let answer = json!({"request": asked["uri"], "policy": "newest"});
    let began = Instant::now();
    loop {
        let reply = person.send("POST", "/api/wallet/requests/answer", Some(&answer));
        let status = verdict_on(operator, &asked);
        if status["state"] == "answered" {
            assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
            return asked;
        }
        is_for_now(began, &reply);
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn verdict_on(operator: &Api, asked: &Value) -> Value {
    let path = format!("/api/verifier/requests/{}", text(asked, "id"));
    until_answered(|| operator.send("GET", &path, None))
}

/// Accepts an offer, again and again while the answers say nothing; false if its code was redeemed before.
fn is_accepted(person: &Api, given: &Value) -> bool {
    let body = json!({"offer": given["uri"]});
    let began = Instant::now();
    loop {
        let reply = person.send("POST", "/api/wallet/offers/accept", Some(&body));
        match &reply {
            Ok(reply) if reply.is_success() => return true,
            Ok(reply) if reply.status == 410 => return false,
            _ => is_for_now(began, &reply),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Accepts an offer. If its code was redeemed before, another process may finish what the one began that was killed, once
/// that is taken for dead.
pub fn is_taken(operator: &Api, person: &Api, given: &Value) -> bool {
    let mut refused = None;
    while !is_accepted(person, given) {
        let refused = refused.get_or_insert_with(Instant::now);
        if issued_for(operator, given) > 0 {
            return true;
        }
        if refused.elapsed() > TAKEN_OVER {
            return false;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    true
}

fn issued_for(operator: &Api, given: &Value) -> usize {
    let path = format!("/api/issuer/credentials?offer={}", text(given, "id"));
    items(&until_answered(|| operator.send("GET", &path, None))).len()
}

/// An offer of a credential with example values.
pub fn immunization() -> Value {
    json!({"type": "immunization", "examples": true})
}

/// Sends a request that may be repeated until it succeeds, as clients behind a balancer do.
pub fn until_answered(send: impl Fn() -> std::io::Result<Reply>) -> Value {
    let began = Instant::now();
    loop {
        let reply = send();
        match &reply {
            Ok(reply) if reply.is_success() => return reply.json(),
            _ => is_for_now(began, &reply),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A failure lasts for a while only, and the answer never says that the server is wrong.
#[track_caller]
fn is_for_now(began: Instant, reply: &std::io::Result<Reply>) {
    assert!(began.elapsed() < Duration::from_secs(60), "{reply:?}");
    let is_ours = reply.as_ref().is_ok_and(|reply| reply.status == 500);
    assert!(!is_ours, "{reply:?}");
}
