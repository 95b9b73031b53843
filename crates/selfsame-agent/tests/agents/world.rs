//! Agents, each with a store and an endpoint of its own, that reach each other over HTTP on loopback.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfsame_agent::connect::{NewOobInvitation, OobAnswer};
use selfsame_agent::{AgentSettings, AgentTerms, Agents, ConnectionView};
use selfsame_anoncreds_wallet::{AnonCreds, NewCredentialDefinition, NewSchema};
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::dids::Author;
use selfsame_core::{Resources, Shared};
use selfsame_crypto::KeyType;
use selfsame_crypto::seal::SealingKey;
use selfsame_did::selfsame::create;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::paging::Paging;
use selfsame_mediation::terms::MediationTerms;
use selfsame_net::{Net, Settings};
use selfsame_store::{Batch, Memory, Page, Store, TenantId, Vault};
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use super::registry::FakeRegistry;

/// An agent with its endpoint.
pub struct Peer {
    pub agents: Agents,
    pub tenant: TenantId,
    pub shared: Arc<Shared>,
    pub store: Store,
    /// Envelopes that are posted to it are lost.
    is_away: Arc<AtomicBool>,
    manner: watch::Sender<EndpointManner>,
    last: Arc<Mutex<Vec<u8>>>,
    /// Envelopes that were posted to it, and what became of them.
    taken: mpsc::UnboundedReceiver<Result<(), selfsame_driver::Error>>,
}

/// How an endpoint answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum EndpointManner {
    /// At once.
    Prompt,
    /// Not yet, although it takes what is posted.
    Held,
    /// That it is busy; what is posted is lost. The next one is answered at once.
    Busy,
}

/// Reads a request, answers 200, and returns its body.
pub async fn posted(mut stream: TcpStream) -> Vec<u8> {
    let body = arrived(&mut stream).await;
    answer(&mut stream, "200 OK").await;
    body
}

/// Passes on what is posted on a connection, and answers in this manner.
async fn taken_in(
    mut stream: TcpStream,
    manner: watch::Sender<EndpointManner>,
    post: mpsc::UnboundedSender<Vec<u8>>,
) {
    let body = arrived(&mut stream).await;
    let now = *manner.borrow();
    if now == EndpointManner::Busy {
        manner.send_replace(EndpointManner::Prompt);
        return answer(&mut stream, "503 Service Unavailable").await;
    }
    if now == EndpointManner::Prompt {
        answer(&mut stream, "200 OK").await;
        return drop(post.send(body));
    }
    drop(post.send(body));
    let mut changes = manner.subscribe();
    drop(changes.wait_for(|now| *now != EndpointManner::Held).await);
    answer(&mut stream, "200 OK").await;
}

async fn answer(stream: &mut TcpStream, status: &str) {
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
}

async fn arrived(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    loop {
        assert!(stream.read_buf(&mut read).await.unwrap() > 0);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let kinds = ["didcomm-envelope-enc", "didcomm-encrypted+json"];
        let is_envelope = |kind| head.contains(&format!("content-type: application/{kind}"));
        assert!(kinds.into_iter().any(is_envelope));
        let (_, length) = head.split_once("content-length: ").unwrap();
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        if body.len() >= length {
            return body.as_bytes().to_vec();
        }
    }
}

impl Peer {
    async fn bound(name: &str, origins: &mut Vec<url::Origin>) -> PeerToBe {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: url::Url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let (post, envelopes) = mpsc::unbounded_channel();
        let manner = watch::Sender::new(EndpointManner::Prompt);
        let answering = manner.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(taken_in(stream, answering.clone(), post.clone()));
            }
        });
        origins.push(url.origin());
        PeerToBe {
            name: name.to_owned(),
            url,
            envelopes,
            manner,
        }
    }

    pub async fn connections(&self) -> Vec<ConnectionView> {
        let paging = Paging::default();
        let listed = self.agents.connections(&self.tenant, &paging);
        listed.await.unwrap().items
    }

    /// From now on, it takes what is posted to it, and answers later.
    pub fn holds_its_answers(&self) {
        self.manner.send_replace(EndpointManner::Held);
    }

    /// From now on, it answers, also what was posted before.
    pub fn answers(&self) {
        self.manner.send_replace(EndpointManner::Prompt);
    }

    /// The next envelope that is posted to it is refused, because it is busy.
    pub fn is_busy_once(&self) {
        self.manner.send_replace(EndpointManner::Busy);
    }

    /// From now on, envelopes that are posted to it are lost.
    pub fn goes_away(&self) {
        self.is_away.store(true, Ordering::SeqCst);
    }

    /// From now on, envelopes that are posted to it reach it.
    pub fn comes_back(&self) {
        self.is_away.store(false, Ordering::SeqCst);
    }

    /// Publishes a schema and a credential definition, with revocation registries of this size; returns the definition's
    /// identifier.
    pub async fn defines(&self, registry_size: Option<u32>) -> String {
        let batch = Batch::new(self.tenant.clone());
        let created = self.shared.keys.create(&self.tenant, KeyType::P256, batch);
        let (key, handle, batch) = created.unwrap();
        self.store.commit(batch).await.unwrap();
        let author = Author {
            tenant: self.tenant.clone(),
            did: create(&FakeRegistry::named(), key.public()),
            key: handle,
            fragment: "key-1".to_owned(),
        };
        let schema = NewSchema {
            name: "donor",
            version: "1.0",
            attributes: &["blood".to_owned()],
        };
        let anoncreds = self.agents.anoncreds();
        let schema = anoncreds.create_schema(&author, &schema).await.unwrap();
        let definition = NewCredentialDefinition {
            schema_id: &schema.id,
            tag: "default",
            registry_size,
        };
        let made = anoncreds.create_definition(&author, &definition).await;
        made.unwrap().id
    }

    /// Waits until an exchange of issuing has this state.
    pub async fn issuing_is(&self, id: &str, state: &str) -> Value {
        let mut seen = Value::Null;
        for _ in 0..3_000 {
            let issuing = self.agents.issuing();
            seen = issuing.one(&self.tenant, id).await.unwrap();
            if seen["state"] == state {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the exchange is not {state}: {seen}");
    }

    /// The envelope that was posted last.
    pub fn last_envelope(&self) -> Vec<u8> {
        self.last.lock().unwrap().clone()
    }

    /// Waits until there is no connection.
    pub async fn has_none(&self) {
        for _ in 0..3_000 {
            if self.connections().await.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("a connection stays");
    }

    /// What controllers were told on this topic, the oldest first.
    pub async fn told(&self, topic: &str) -> Vec<Value> {
        let page = Page::first(100);
        let records = self.store.list(&self.tenant, "aries_notice", &page).await;
        let told = records.unwrap().into_iter().map(|record| {
            let told: Value = serde_json::from_slice(&record.value).unwrap();
            told
        });
        told.filter(|told| told["topic"] == topic)
            .map(|told| told["payload"].clone())
            .collect()
    }

    /// Waits for the next envelope, which is taken without an error.
    pub async fn takes(&mut self) {
        let taken = tokio::time::timeout(Duration::from_secs(60), self.taken.recv());
        taken.await.unwrap().unwrap().unwrap();
    }

    /// Waits until the only connection, or the newest one, has this state.
    pub async fn reaches(&self, state: &str) -> ConnectionView {
        for _ in 0..3_000 {
            if let Some(newest) = self.connections().await.into_iter().next()
                && newest.state == state
            {
                return newest;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no connection is {state}: {:?}", self.connections().await);
    }

    /// Waits for the next envelope, which is refused.
    pub async fn refuses(&mut self) -> selfsame_driver::Error {
        let taken = tokio::time::timeout(Duration::from_secs(60), self.taken.recv());
        taken.await.unwrap().unwrap().unwrap_err()
    }
}

struct PeerToBe {
    name: String,
    url: url::Url,
    envelopes: mpsc::UnboundedReceiver<Vec<u8>>,
    manner: watch::Sender<EndpointManner>,
}

impl PeerToBe {
    async fn start(mut self, origins: &[url::Origin], common: &Common) -> Peer {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::default()), vault)
            .await
            .unwrap();
        let settings = Settings {
            own_origins: origins.to_vec(),
            native_roots: false,
            ..Settings::default()
        };
        let config = SharedConfig {
            origin: "http://localhost:9/".parse().unwrap(),
            trust: TrustConfig::default(),
            resolver: ResolverConfig::default(),
            organisations: OrganisationsConfig::default(),
        };
        let resources = Resources {
            keys: Keys::new(store.clone()),
            store: store.clone(),
            net: Net::new(settings).unwrap(),
            clock: common.clock.clone(),
            registry: common.registry.clone().map(|registry| registry as _),
        };
        let shared = Arc::new(Shared::new(config, resources).unwrap());
        let terms = AgentTerms {
            label: self.name.clone(),
            endpoint: self.url,
            socket: None,
            settings: common.settings,
            mediation: MediationTerms::default(),
            connection_wait: Duration::ZERO,
        };
        let anoncreds = AnonCreds::new(shared.clone());
        let agents = Agents::new(anoncreds.clone(), terms, Arc::new(|_| true));
        if common.registry.is_some() {
            let all = anoncreds.correspondents().into_iter();
            let all: Vec<_> = all.chain(agents.correspondents()).collect();
            shared.set_correspondents(all.iter());
            tokio::spawn(carry_out(shared.clone()));
        }
        let is_away = Arc::new(AtomicBool::new(false));
        let loses = is_away.clone();
        let (report, taken) = mpsc::unbounded_channel();
        let taking = agents.clone();
        let last = Arc::new(Mutex::new(Vec::new()));
        let keeping = last.clone();
        tokio::spawn(async move {
            while let Some(envelope) = self.envelopes.recv().await {
                keeping.lock().unwrap().clone_from(&envelope);
                if loses.load(Ordering::SeqCst) {
                    continue;
                }
                let _ = report.send(taking.receive(envelope).await);
            }
        });
        Peer {
            agents,
            tenant: TenantId::parse(&self.name.to_lowercase()).unwrap(),
            shared,
            store,
            is_away,
            manner: self.manner,
            last,
            taken,
        }
    }
}

/// Two agents with a connection of connections 1.0, DID exchange 1.1 or DIDComm v2, each with its identifier of it.
pub async fn connected(settings: AgentSettings, protocol: &str) -> Connected {
    connected_of(&Common::of(settings), protocol).await
}

/// As [`connected`], of agents that have this in common.
pub async fn connected_of(common: &Common, protocol: &str) -> Connected {
    let (mut clinic, mut holder) = two_of(common).await;
    let new = NewOobInvitation {
        handshake_protocols: vec![format!("https://didcomm.org/{protocol}")],
        auto_accept: true,
        ..NewOobInvitation::default()
    };
    let invited = clinic.agents.create_oob_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    let answer = OobAnswer {
        alias: None,
        auto_accept: true,
        use_existing_connection: false,
        label: None,
        key_seconds: None,
    };
    let members = invitation(&invited.invitation);
    let received = holder
        .agents
        .receive_oob_invitation(&holder.tenant, members, answer);
    let received = received.await.unwrap();
    clinic.takes().await;
    holder.takes().await;
    // Over DIDComm v2 the answer to the first message makes the connection.
    if protocol != "didcomm/2.0" {
        clinic.takes().await;
    }
    clinic.reaches("active").await;
    holder.reaches("active").await;
    Connected {
        clinic,
        holder,
        of_clinic: invited.connection_id.unwrap(),
        of_holder: received.connection_id.unwrap(),
    }
}

/// Two agents with a connection.
pub struct Connected {
    pub clinic: Peer,
    pub holder: Peer,
    pub of_clinic: String,
    pub of_holder: String,
}

pub async fn two() -> (Peer, Peer) {
    two_with(AgentSettings::default()).await
}

/// Two agents with these settings.
pub async fn two_with(settings: AgentSettings) -> (Peer, Peer) {
    two_of(&Common::of(settings)).await
}

/// Two agents that have this in common.
pub async fn two_of(common: &Common) -> (Peer, Peer) {
    let [clinic, holder] = all_of(["Clinic", "Holder"], common).await;
    (clinic, holder)
}

/// Agents with these names that have this in common.
pub async fn all_of<const N: usize>(names: [&str; N], common: &Common) -> [Peer; N] {
    let mut origins = common.origins.clone();
    let mut bound = Vec::new();
    for name in names {
        bound.push(Peer::bound(name, &mut origins).await);
    }
    let mut started = Vec::new();
    for one in bound {
        started.push(one.start(&origins, common).await);
    }
    let Ok(started) = started.try_into() else {
        panic!("each is started");
    };
    started
}

/// What the agents of a test have in common.
pub struct Common {
    settings: AgentSettings,
    /// Origins on this machine that they may call beside each other.
    origins: Vec<url::Origin>,
    clock: Clock,
    registry: Option<Arc<FakeRegistry>>,
}

impl Common {
    pub fn of(settings: AgentSettings) -> Self {
        Self {
            settings,
            origins: Vec::new(),
            clock: Clock::default(),
            registry: None,
        }
    }

    /// With a registry of AnonCreds.
    pub fn with_registry(settings: AgentSettings) -> Self {
        let clock = Clock::default();
        Self {
            clock: clock.clone(),
            registry: Some(FakeRegistry::new(clock)),
            ..Self::of(settings)
        }
    }

    /// May call this origin too.
    pub fn calling(self, origin: url::Origin) -> Self {
        Self {
            origins: vec![origin],
            ..self
        }
    }
}

/// Carries out what the outbox has due, as an instance does.
async fn carry_out(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        for leased in shared.store.due(shared.clock.now(), 100).await.unwrap() {
            let shared = shared.clone();
            tokio::spawn(async move { shared.perform(&leased).await });
        }
    }
}

/// The members of an invitation.
pub fn invitation(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}
