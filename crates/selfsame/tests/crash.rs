//! The crash test: an instance is killed repeatedly at random instants, under 32 clients. Afterwards every acknowledged
//! credential, spent code, index and revocation is looked up over the API.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of a process measures real time and opens its own connections"
)]
#![allow(
    dead_code,
    reason = "the support is shared, and each test uses its part of it"
)]

#[path = "support/http.rs"]
mod http;
#[path = "support/instance.rs"]
mod instance;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use http::Api;
use instance::{Instance, free_port};

const CLIENTS: usize = 32;
const KILLS: usize = 200;
/// How long the last instance may run, if the earlier ones were too slow.
const PATIENCE: Duration = Duration::from_secs(120);

/// What was acknowledged to the clients, as they recorded it.
#[derive(Default)]
struct Acknowledged {
    /// Cards by the client that holds them.
    cards: BTreeMap<usize, BTreeSet<String>>,
    /// Links of single-use offers that were accepted.
    spent: Vec<(usize, String, String)>,
    /// Credentials that were revoked.
    revoked: BTreeSet<String>,
    /// Requests that were answered and verified as valid.
    judged: BTreeSet<String>,
}

impl Acknowledged {
    fn pairs(&self) -> usize {
        self.cards.values().map(BTreeSet::len).sum()
    }

    /// Whether there is enough to look up afterwards.
    fn is_enough(&self) -> bool {
        self.pairs() > KILLS && !self.revoked.is_empty() && !self.judged.is_empty()
    }
}

/// The body of a success; `None` if the request was refused or the instance was down.
fn ok(api: &Api, method: &'static str, path: &str, body: Option<&Value>) -> Option<Value> {
    let reply = api.send(method, path, body).ok()?;
    reply.is_success().then(|| reply.json())
}

#[test]
fn nothing_acknowledged_is_lost_when_the_instance_is_killed_two_hundred_times() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path().join("data"), free_port());
    let mut instance = Instance::start(&data, port, &[]);
    instance.ready();
    let operator = instance.operator();
    let people = register(&operator);

    let known = Arc::new(Mutex::new(Acknowledged::default()));
    let stop = Arc::new(AtomicBool::new(false));
    let started = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = people
        .iter()
        .enumerate()
        .map(|(number, person)| {
            let client = Client {
                number,
                person: person.clone(),
                operator: operator.clone(),
                known: known.clone(),
            };
            let (stop, started) = (stop.clone(), started.clone());
            thread::spawn(move || client.work(&stop, &started))
        })
        .collect();

    let mut kills = 0;
    while kills < KILLS {
        // Random enough: two bytes of the system's randomness give 1 to 250 ms of work between start and kill.
        let [low, high, ..] = selfsame_crypto::seal::random_seed();
        let pause = u64::from(u16::from_le_bytes([low, high])) % 250 + 1;
        thread::sleep(Duration::from_millis(pause));
        instance.kill();
        kills += 1;
        instance = Instance::start(&data, port, &[]);
        instance.ready();
    }
    // On a busy machine few requests finish between two kills.
    let began = Instant::now();
    while !known.lock().unwrap().is_enough() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(500));
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    let known = std::mem::take(&mut *known.lock().unwrap());
    assert!(
        known.is_enough(),
        "only {} credentials were acknowledged: the test did not test",
        known.pairs()
    );
    check(&operator, &people, &known);
}

fn register(api: &Api) -> Vec<Api> {
    let mut people = Vec::new();
    for number in 0..CLIENTS {
        let body = json!({"email": format!("person{number}@example.org"), "password": "correct horse battery"});
        let session = ok(
            &api.with_token(""),
            "POST",
            "/api/wallet/register",
            Some(&body),
        )
        .unwrap();
        people.push(api.with_token(&text(&session, "token")));
    }
    people
}

struct Client {
    number: usize,
    person: Api,
    operator: Api,
    known: Arc<Mutex<Acknowledged>>,
}

impl Client {
    fn work(self, stop: &AtomicBool, round: &AtomicU64) {
        while !stop.load(Ordering::Relaxed) {
            let turn = round.fetch_add(1, Ordering::Relaxed);
            if self.turn(turn).is_none() {
                // Killed before an acknowledgement: the action may or may not have happened.
                thread::sleep(Duration::from_millis(20));
            }
        }
    }

    fn turn(&self, turn: u64) -> Option<()> {
        let offer = json!({"type": "immunization", "examples": true});
        let offer = ok(&self.operator, "POST", "/api/issuer/offers", Some(&offer))?;
        let (id, uri) = (text(&offer, "id"), text(&offer, "uri"));
        let taken = json!({"offer": uri});
        let taken = ok(
            &self.person,
            "POST",
            "/api/wallet/offers/accept",
            Some(&taken),
        )?;
        let card = text(&taken["items"][0], "id");
        {
            let mut known = self.known.lock().unwrap();
            known.cards.entry(self.number).or_default().insert(card);
            known.spent.push((self.number, id.clone(), uri));
        }
        if turn.is_multiple_of(3) {
            let path = format!("/api/issuer/credentials?offer={id}");
            let issued = ok(&self.operator, "GET", &path, None)?;
            let credential = text(&issued["items"][0], "id");
            let path = format!("/api/issuer/credentials/{credential}/status");
            ok(
                &self.operator,
                "PUT",
                &path,
                Some(&json!({"status": "revoked"})),
            )?;
            self.known.lock().unwrap().revoked.insert(credential);
        } else if turn.is_multiple_of(2) {
            let asked = json!({"type": "immunization"});
            let asked = ok(
                &self.operator,
                "POST",
                "/api/verifier/requests",
                Some(&asked),
            )?;
            let answer = json!({"request": asked["uri"], "policy": "newest"});
            ok(
                &self.person,
                "POST",
                "/api/wallet/requests/answer",
                Some(&answer),
            )?;
            let request = text(&asked, "id");
            let path = format!("/api/verifier/requests/{request}?wait=5");
            let status = ok(&self.operator, "GET", &path, None)?;
            if status["verdict"]["outcome"] == "valid" {
                self.known.lock().unwrap().judged.insert(request);
            }
        }
        Some(())
    }
}

fn check(operator: &Api, people: &[Api], known: &Acknowledged) {
    for (number, cards) in &known.cards {
        let held = all(&people[*number], "/api/wallet/credentials");
        let held: BTreeSet<String> = held.iter().map(|card| text(card, "id")).collect();
        let lost: Vec<_> = cards.difference(&held).collect();
        assert!(lost.is_empty(), "client {number} lost {lost:?}");
    }
    let issued = all(operator, "/api/issuer/credentials");
    let mut places = BTreeSet::new();
    for credential in &issued {
        let place = (
            text(credential, "status_list"),
            credential["status_index"].as_u64().unwrap(),
        );
        assert!(
            places.insert(place.clone()),
            "the index {place:?} was given twice"
        );
    }
    let by_id: BTreeMap<String, &Value> = issued
        .iter()
        .map(|credential| (text(credential, "id"), credential))
        .collect();
    for id in &known.revoked {
        assert_eq!(
            by_id[id]["status"], "revoked",
            "the revocation of {id} is lost"
        );
    }
    for id in &known.judged {
        let status = ok(
            operator,
            "GET",
            &format!("/api/verifier/requests/{id}"),
            None,
        )
        .unwrap();
        assert_eq!(status["state"], "answered", "the verdict on {id} is lost");
    }
    // Every spent offer is spent; accepting a sample of them again is refused.
    for (at, (number, id, uri)) in known.spent.iter().enumerate() {
        let offer = ok(operator, "GET", &format!("/api/issuer/offers/{id}"), None).unwrap();
        assert_eq!(
            offer["uses_left"], 0,
            "the code of offer {id} can be used again"
        );
        if at.is_multiple_of(20) {
            let again = json!({"offer": uri});
            let reply = people[*number]
                .send("POST", "/api/wallet/offers/accept", Some(&again))
                .unwrap();
            assert!(reply.status >= 400, "a spent code was taken again");
        }
    }
}

fn all(api: &Api, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut next = String::new();
    loop {
        let page = ok(api, "GET", &format!("{path}?limit=200{next}"), None).unwrap();
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(cursor) => next = format!("&after={cursor}"),
            None => return items,
        }
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("`{name}` is missing in {value}"))
        .to_owned()
}
