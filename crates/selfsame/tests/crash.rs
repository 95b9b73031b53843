//! The crash test: an instance is killed at random instants and more under 32 clients; afterwards every
//! acknowledged credential, spent code, index and revocation is looked for over the API.
#![expect(
    clippy::disallowed_methods,
    reason = "a test that kills processes measures real time"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use selfsame_crypto::SecretString;
use selfsame_net::{Authorization, Body, Call, Method, Net, Request, Settings};
use serde_json::{Value, json};
use url::Url;

const CLIENTS: usize = 32;
const KILLS: usize = 200;

/// What was acknowledged to the clients, as they wrote it down.
#[derive(Default)]
struct Acknowledged {
    /// Cards by the client that holds them.
    cards: BTreeMap<usize, BTreeSet<String>>,
    /// Links of single-use offers that were taken.
    spent: Vec<(usize, String, String)>,
    /// Credentials that were revoked.
    revoked: BTreeSet<String>,
    /// Requests that were answered and judged valid.
    judged: BTreeSet<String>,
}

#[derive(Clone)]
struct Api {
    net: Net,
    origin: Url,
}

impl Api {
    fn new(origin: Url) -> Self {
        let settings = Settings {
            own_origins: vec![origin.origin()],
            ..Settings::default()
        };
        Self {
            net: Net::new(settings).unwrap(),
            origin,
        }
    }

    /// The status and body, or nothing if the instance was not there.
    async fn send(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let url = self.origin.join(path).unwrap();
        let body = body.map_or(Body::Empty, |body| {
            Body::Json(serde_json::to_vec(body).unwrap())
        });
        let authorization = Authorization::Bearer(SecretString::from(token.to_owned()));
        let request = Request::default();
        let call = Call {
            method,
            url: &url,
            body,
            authorization,
            request,
        };
        let response = self.net.call(call).await.ok()?;
        Some((
            response.status,
            serde_json::from_slice(&response.body).unwrap_or(Value::Null),
        ))
    }

    /// The body of a success, or nothing.
    async fn ok(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<&Value>,
    ) -> Option<Value> {
        let (status, body) = self.send(method, path, token, body).await?;
        (200..300).contains(&status).then_some(body)
    }
}

struct Instance {
    child: Child,
}

impl Instance {
    fn start(data: &Path, listen: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_selfsame"))
            .args(["up", "--no-demo", "--listen", listen, "--data"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Self { child }
    }

    async fn ready(&mut self, api: &Api) {
        let began = Instant::now();
        while api.ok(Method::Get, "/readyz", "", None).await.is_none() {
            assert!(
                self.child.try_wait().unwrap().is_none(),
                "the instance ended by itself"
            );
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "the instance is not ready after 20 s"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// SIGKILL: nothing of it runs on.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_instance_is_killed_two_hundred_times() {
    let data = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let listen = format!("127.0.0.1:{port}");
    let api = Api::new(Url::parse(&format!("http://{listen}/")).unwrap());
    let mut instance = Instance::start(data.path(), &listen);
    instance.ready(&api).await;
    let operator = std::fs::read_to_string(data.path().join("operator-token")).unwrap();
    let people = register(&api).await;

    let known = Arc::new(Mutex::new(Acknowledged::default()));
    let stop = Arc::new(AtomicBool::new(false));
    let started = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = people
        .iter()
        .enumerate()
        .map(|(number, token)| {
            let client = Client {
                api: api.clone(),
                number,
                token: token.clone(),
                operator: operator.clone(),
                known: known.clone(),
            };
            tokio::spawn(client.work(stop.clone(), started.clone()))
        })
        .collect();

    let mut kills = 0;
    while kills < KILLS {
        // Random enough: two bytes of the system's randomness, 1 to 250 ms of work between ready and dead.
        let [low, high, ..] = selfsame_crypto::seal::random_seed();
        let pause = u64::from(u16::from_le_bytes([low, high])) % 250 + 1;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        instance.kill();
        kills += 1;
        instance = Instance::start(data.path(), &listen);
        instance.ready(&api).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let known = std::mem::take(&mut *known.lock().unwrap());
    let pairs: usize = known.cards.values().map(BTreeSet::len).sum();
    assert!(
        pairs > KILLS,
        "only {pairs} credentials were acknowledged: the test did not test"
    );
    assert!(!known.revoked.is_empty() && !known.judged.is_empty());
    check(&api, &operator, &people, &known).await;
}

async fn register(api: &Api) -> Vec<String> {
    let mut people = Vec::new();
    for number in 0..CLIENTS {
        let body = json!({"email": format!("person{number}@example.org"), "password": "correct horse battery"});
        let session = api
            .ok(Method::Post, "/api/wallet/register", "", Some(&body))
            .await
            .unwrap();
        people.push(session["token"].as_str().unwrap().to_owned());
    }
    people
}

struct Client {
    api: Api,
    number: usize,
    token: String,
    operator: String,
    known: Arc<Mutex<Acknowledged>>,
}

impl Client {
    async fn work(self, stop: Arc<AtomicBool>, round: Arc<AtomicU64>) {
        while !stop.load(Ordering::Relaxed) {
            let turn = round.fetch_add(1, Ordering::Relaxed);
            if self.turn(turn).await.is_none() {
                // Killed in between: what was not acknowledged may or may not have happened.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    async fn turn(&self, turn: u64) -> Option<()> {
        let offer = json!({"template": "immunization", "examples": true});
        let offer = self
            .api
            .ok(
                Method::Post,
                "/api/issuer/offers",
                &self.operator,
                Some(&offer),
            )
            .await?;
        let (id, uri) = (text(&offer, "id"), text(&offer, "uri"));
        let taken = json!({"offer": uri});
        let taken = self
            .api
            .ok(
                Method::Post,
                "/api/wallet/offers/accept",
                &self.token,
                Some(&taken),
            )
            .await?;
        let card = text(&taken["items"][0], "id");
        {
            let mut known = self.known.lock().unwrap();
            known.cards.entry(self.number).or_default().insert(card);
            known.spent.push((self.number, id.clone(), uri));
        }
        if turn.is_multiple_of(3) {
            let path = format!("/api/issuer/credentials?offer={id}");
            let issued = self
                .api
                .ok(Method::Get, &path, &self.operator, None)
                .await?;
            let credential = text(&issued["items"][0], "id");
            let path = format!("/api/issuer/credentials/{credential}/status");
            self.api
                .ok(
                    Method::Put,
                    &path,
                    &self.operator,
                    Some(&json!({"status": "revoked"})),
                )
                .await?;
            self.known.lock().unwrap().revoked.insert(credential);
        } else if turn.is_multiple_of(2) {
            let asked = json!({"template": "immunization"});
            let asked = self
                .api
                .ok(
                    Method::Post,
                    "/api/verifier/requests",
                    &self.operator,
                    Some(&asked),
                )
                .await?;
            let answer = json!({"request": asked["uri"], "policy": "newest"});
            self.api
                .ok(
                    Method::Post,
                    "/api/wallet/requests/answer",
                    &self.token,
                    Some(&answer),
                )
                .await?;
            let request = text(&asked, "id");
            let path = format!("/api/verifier/requests/{request}?wait=5");
            let status = self
                .api
                .ok(Method::Get, &path, &self.operator, None)
                .await?;
            if status["verdict"]["outcome"] == "valid" {
                self.known.lock().unwrap().judged.insert(request);
            }
        }
        Some(())
    }
}

async fn check(api: &Api, operator: &str, people: &[String], known: &Acknowledged) {
    for (number, cards) in &known.cards {
        let held = all(api, "/api/wallet/credentials", &people[*number]).await;
        let held: BTreeSet<String> = held.iter().map(|card| text(card, "id")).collect();
        let lost: Vec<_> = cards.difference(&held).collect();
        assert!(lost.is_empty(), "client {number} lost {lost:?}");
    }
    let issued = all(api, "/api/issuer/credentials", operator).await;
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
        let status = api
            .ok(
                Method::Get,
                &format!("/api/verifier/requests/{id}"),
                operator,
                None,
            )
            .await
            .unwrap();
        assert_eq!(status["state"], "answered", "the verdict on {id} is lost");
    }
    // Every spent offer is spent; taking a sample of them again is refused.
    for (at, (number, id, uri)) in known.spent.iter().enumerate() {
        let offer = api
            .ok(
                Method::Get,
                &format!("/api/issuer/offers/{id}"),
                operator,
                None,
            )
            .await
            .unwrap();
        assert_eq!(
            offer["uses_left"], 0,
            "the code of offer {id} can be used again"
        );
        if at.is_multiple_of(20) {
            let again = json!({"offer": uri});
            let (status, _) = api
                .send(
                    Method::Post,
                    "/api/wallet/offers/accept",
                    &people[*number],
                    Some(&again),
                )
                .await
                .unwrap();
            assert!(status >= 400, "a spent code was taken again");
        }
    }
}

async fn all(api: &Api, path: &str, token: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut next = String::new();
    loop {
        let page = api
            .ok(Method::Get, &format!("{path}?limit=200{next}"), token, None)
            .await
            .unwrap();
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
