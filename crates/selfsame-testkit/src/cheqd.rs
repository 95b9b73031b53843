//! A fake cheqd network with its resolver and registrar, which tests can make misbehave.

mod ledger;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_bench::fake_server::{FakeServer, ReceivedRequest, Reply};
use serde_json::{Value, json};
use url::Url;

pub use ledger::{FakeLedger, FakeVersion};

/// The media type of the resolver's envelope.
const ENVELOPE: &str = "application/ld+json;profile=\"https://w3id.org/did-resolution\"";

/// A fault of the fake network.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FakeFault {
    /// No fault.
    #[default]
    None,
    /// Every answer is delayed by this time.
    Late(Duration),
    /// The resolver returns the document of another DID.
    WrongId,
    /// The resolver returns another version than the requested one.
    WrongVersion,
    /// The resolver's answer is larger than a mebibyte.
    Oversized,
    /// The resolver's answer repeats a member; a resource has one byte too many.
    Malformed,
    /// The resolver redirects its callers to this URL.
    Redirect(String),
    /// This address has no resolver: it answers 404 in HTML.
    Elsewhere,
    /// The resolver fails.
    Broken,
    /// The registrar carries out the request, and its answer is lost.
    LosesAnswers,
    /// The registrar's connection breaks before it does anything.
    LosesRequests,
    /// The registrar's connection breaks when signatures arrive, before it does anything.
    LosesSignatures,
    /// The registrar adds a key of its own to the document and asks for a signature under it.
    AddsItsKey,
    /// The registrar asks for a signature by a key of another DID.
    NamesOtherKey,
    /// The registrar gives up, with the network's reason.
    Refuses,
    /// Once it has the signatures, the registrar answers this many times that it is not ready.
    Waits(u64),
}

struct CheqdShared {
    ledger: Mutex<FakeLedger>,
    fault: Mutex<FakeFault>,
    delay: Mutex<Duration>,
    resolved: AtomicU64,
    registered: AtomicU64,
}

/// The running fake network; dropping it stops it.
pub struct Cheqd {
    late: FakeServer,
    shared: Arc<CheqdShared>,
}

impl Cheqd {
    /// Starts the fake network.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start() -> Self {
        let shared = Arc::new(CheqdShared {
            ledger: Mutex::default(),
            fault: Mutex::default(),
            delay: Mutex::default(),
            resolved: AtomicU64::new(0),
            registered: AtomicU64::new(0),
        });
        let served = shared.clone();
        let late = FakeServer::start(move |asked| served.answer(asked))
            .await
            .expect("loopback has a free port");
        Self { late, shared }
    }

    /// The base URL of the resolver and the registrar.
    ///
    /// # Panics
    /// Never: the address is a URL.
    pub fn address(&self) -> Url {
        self.late.address().parse().expect("it is a URL")
    }

    /// Sets the fault that all further answers have.
    pub fn fault(&self, fault: FakeFault) {
        *lock(&self.shared.fault) = fault;
    }

    /// Delays every answer by this time, like a resolver behind a network.
    pub fn delay(&self, delay: Duration) {
        *lock(&self.shared.delay) = delay;
    }

    /// The network's contents.
    pub fn ledger(&self) -> MutexGuard<'_, FakeLedger> {
        lock(&self.shared.ledger)
    }

    /// The number of requests to the resolver.
    pub fn resolved(&self) -> u64 {
        self.shared.resolved.load(Ordering::SeqCst)
    }

    /// The number of requests to the registrar.
    pub fn registered(&self) -> u64 {
        self.shared.registered.load(Ordering::SeqCst)
    }
}

impl CheqdShared {
    fn answer(&self, asked: &ReceivedRequest) -> Reply {
        let fault = lock(&self.fault).clone();
        let mut reply = match asked.path.strip_prefix("/1.0/identifiers/") {
            Some(path) => {
                self.resolved.fetch_add(1, Ordering::SeqCst);
                self.resolve(path, asked, &fault)
            }
            None => {
                self.registered.fetch_add(1, Ordering::SeqCst);
                self.register(asked, &fault)
            }
        };
        reply.after = match fault {
            FakeFault::Late(more) => more,
            _ => *lock(&self.delay),
        };
        reply
    }

    fn resolve(&self, path: &str, asked: &ReceivedRequest, fault: &FakeFault) -> Reply {
        let ledger = lock(&self.ledger);
        if let Some((did, resource)) = path.split_once("/resources/") {
            return match resource.strip_suffix("/metadata") {
                Some(id) => ledger.resource_metadata(did, id),
                None => ledger.resource(did, resource, fault == &FakeFault::Malformed),
            };
        }
        match fault {
            FakeFault::Redirect(to) => Reply {
                location: Some(to.clone()),
                ..plain(302, "text/plain", "")
            },
            FakeFault::Elsewhere => plain(404, "text/html", "<h1>Not Found</h1>"),
            FakeFault::Broken => plain(500, "text/plain", "Internal Server Error"),
            FakeFault::Oversized => plain(200, ENVELOPE, &" ".repeat((1 << 20) + 1)),
            FakeFault::Malformed => plain(200, ENVELOPE, r#"{"didDocument":{},"didDocument":{}}"#),
            _ => {
                let other = (fault == &FakeFault::WrongVersion).then_some("another");
                let (status, mut result) = ledger.resolve(path, asked.query.as_deref(), other);
                if fault == &FakeFault::WrongId && status == 200 {
                    result["didDocument"]["id"] = json!(format!("{path}0"));
                }
                answered(status, ENVELOPE, &result)
            }
        }
    }

    fn register(&self, asked: &ReceivedRequest, fault: &FakeFault) -> Reply {
        if fault == &FakeFault::LosesRequests {
            return Reply::default();
        }
        let Ok(body) = serde_json::from_slice::<Value>(&asked.body) else {
            return plain(400, "text/plain", "no JSON");
        };
        let is_signed = body["secret"]["signingResponse"].is_object();
        if fault == &FakeFault::LosesSignatures && is_signed {
            return Reply::default();
        }
        let operation = asked.path.strip_prefix("/1.0/").unwrap_or_default();
        let (status, answer) = lock(&self.ledger).register(operation, &body, fault);
        let is_done = answer["didState"]["state"] == "finished";
        if fault == &FakeFault::LosesAnswers && is_done {
            return Reply::default();
        }
        answered(status, "application/json", &answer)
    }
}

fn answered(status: u16, content_type: &'static str, value: &Value) -> Reply {
    plain(status, content_type, &value.to_string())
}

fn plain(status: u16, content_type: &'static str, body: &str) -> Reply {
    Reply {
        status,
        content_type,
        body: body.as_bytes().to_vec(),
        ..Reply::default()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
