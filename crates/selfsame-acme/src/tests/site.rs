//! A listener of this machine whose certificates an authority gives.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of processes measure real time and open their own connections"
)]

use std::fmt::Debug;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_http::limits::ConnectionLimits;
use selfsame_http::origin::Origin;
use selfsame_http::pulse::Pulse;
use selfsame_http::serve::{Door, HttpService, Listening, serve_all};
use selfsame_http::shares::Shares;
use selfsame_store::{Memory, Store, Vault};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use url::Url;

use super::pebble::{self, Pebble, PebbleSettings};
use crate::keeper::AcmeParts;
use crate::records::HostRecord;
use crate::{AcmeSettings, OrganisationHosts, first_certificate};

/// The host of the listener, and one of an organisation.
pub(super) const OWN: &str = "id.selfsame.example";
pub(super) const FURTHER: &str = "id.clinic.example";
const PATIENCE: Duration = Duration::from_secs(120);

/// Ports that others leave alone.
static HELD: Mutex<Vec<TcpSocket>> = Mutex::new(Vec::new());

/// The ports of a listener, and those at which its authority asks.
pub(super) struct Ports {
    pub tls: u16,
    pub without_tls: u16,
    pub asked_in_handshakes: u16,
}

/// A running listener; dropping it stops it.
pub(super) struct Site {
    runtime: Option<Runtime>,
    store: Store,
    port: u16,
    hosts: Arc<Mutex<Vec<String>>>,
}

impl Ports {
    pub fn free() -> Self {
        let tls = free_port();
        Self {
            tls,
            without_tls: free_port(),
            asked_in_handshakes: tls,
        }
    }

    /// An authority whose certificates live this long, in seconds.
    pub fn authority(&self, life: u64) -> Pebble {
        self.authority_that(|settings| settings.life = life)
    }

    pub fn authority_that(&self, is: impl FnOnce(&mut PebbleSettings)) -> Pebble {
        let mut settings = PebbleSettings {
            tls_port: self.asked_in_handshakes,
            http_port: self.without_tls,
            life: super::DAY,
            refused_nonces: 0,
            binds_accounts: false,
        };
        is(&mut settings);
        Pebble::new(settings, free_port)
    }

    pub fn settings(&self, pebble: &Pebble) -> AcmeSettings {
        AcmeSettings {
            terms_agreed: true,
            directory: pebble.directory(),
            contact: vec!["mailto:operator@selfsame.example".to_owned()],
            hosts: Vec::new(),
            listen: None,
            root: Some(pebble.root_file()),
            account_key_id: None,
            account_key_file: None,
        }
    }
}

impl Site {
    pub fn start(store: &Store, ports: &Ports, pebble: &Pebble) -> Self {
        Self::start_with(store, ports, pebble, |_| {})
    }

    pub fn start_with(
        store: &Store,
        ports: &Ports,
        pebble: &Pebble,
        change: impl FnOnce(&mut AcmeSettings),
    ) -> Self {
        let mut settings = ports.settings(pebble);
        change(&mut settings);
        Self::run(store, ports, settings, false)
    }

    /// A listener that knows of other processes on its store.
    pub fn start_beside(store: &Store, ports: &Ports, pebble: &Pebble) -> Self {
        Self::run(store, ports, ports.settings(pebble), true)
    }

    fn run(store: &Store, ports: &Ports, settings: AcmeSettings, is_beside: bool) -> Self {
        let runtime = Runtime::new().unwrap();
        let hosts: Arc<Mutex<Vec<String>>> = Arc::default();
        let (kept, known) = (store.clone(), hosts.clone());
        let (store, port) = (store.clone(), ports.tls);
        let origin = Url::parse(&format!("https://{OWN}:{port}/")).unwrap();
        let serving = async move {
            let without_tls = match settings.listen {
                Some(at) => Some(TcpListener::bind(at).await.unwrap()),
                None => None,
            };
            let tls = first_certificate(&store, &origin).await.unwrap();
            let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
            let parts = AcmeParts {
                settings,
                store,
                clock: Clock::default(),
                tls: tls.clone(),
                origin: origin.clone(),
                hosts: OrganisationHosts::by(move || {
                    let hosts = hosts.lock().unwrap_or_else(PoisonError::into_inner);
                    let hosts = hosts.clone();
                    async move { Ok(hosts) }
                }),
                listener: without_tls,
            };
            let further = match is_beside {
                true => parts.start_beside().unwrap(),
                false => parts.start().unwrap(),
            };
            let service = HttpService {
                router: Router::new().route("/", get(async || "here")),
                door: Door::of(Some(&tls), &Origin::of(&origin).unwrap()),
                limits: ConnectionLimits::default(),
                shares: Shares::default(),
                requests: Shares::default(),
                pulse: Pulse::default(),
                stopping: watch::Sender::new(false),
            };
            let further = further.map(|one| one.beside(&service));
            let mut all = vec![Listening { listener, service }];
            all.extend(further);
            serve_all(all, std::future::pending()).await.unwrap();
        };
        runtime.spawn(serving);
        Self {
            runtime: Some(runtime),
            store: kept,
            port,
            hosts: known,
        }
    }

    /// The certificate that a client accepts which trusts this authority alone.
    pub fn accepted(&self, host: &str, authority: &[u8]) -> std::io::Result<Vec<u8>> {
        pebble::accepted(self.port, host, authority)
    }

    /// Whether the listener answers.
    pub fn is_answered(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    /// One more host of an organisation.
    pub fn add_host(&self, host: &str) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.push(host.to_owned());
    }

    /// How often in a row no certificate was given for a host, if it was asked for.
    pub fn failures_of(&self, host: &str) -> Option<u32> {
        let record = run(HostRecord::read(&self.store, host)).unwrap();
        record.stamp()?;
        Some(record.state.failures())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(10));
        }
    }
}

/// A new store.
pub(super) fn in_memory() -> Store {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    run(Store::open(Arc::new(Memory::new()), vault)).unwrap()
}

/// Runs this to its end.
pub(super) fn run<T>(work: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(work)
}

/// What this gives, once it does.
#[track_caller]
pub(super) fn soon<T, E: Debug>(what: impl Fn() -> Result<T, E>) -> T {
    let began = Instant::now();
    loop {
        match what() {
            Ok(found) => return found,
            Err(error) => assert!(began.elapsed() < PATIENCE, "{error:?}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A port that is free, and that no other program is given.
pub(super) fn free_port() -> u16 {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    HELD.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(socket);
    port
}
