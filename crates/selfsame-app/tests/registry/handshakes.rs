//! Handshakes over loopback whose evidence comes from a registry node that lies, is slow or is down: which peer is
//! accepted, which alert the other side gets, and what is logged.

use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use selfsame_app::config::{Config as AppConfig, Roles};
use selfsame_app::tls::{Gatherer, Reuse};
use selfsame_app::{App, Parts};
use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_did::Did;
use selfsame_ledger::config::{RegistryConfig, RegistryNode, WitnessQuorum};
use selfsame_net::{Net, Settings as NetSettings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_tls::identity::{Identities, IdentityPolicy, PeerPolicy, SsiIdentity, Staples};
use selfsame_tls::{
    Alert, ClientAuth, ClientConfig, Config, Error as TlsError, Limits, ServerConfig, SigningKey,
};
use selfsame_tls_io::{Acceptor, Connector, Error, HandshakeSettings, Offline, tls_error};
use selfsame_wallet::config::WalletConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use url::Url;

use crate::paper::{Lie, Paper, PaperNode, store};

/// Longer than anything here takes on a busy machine.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// Seconds that evidence may take: more than a node may take to answer, and less.
const PATIENT: u64 = 50;
const IMPATIENT: u64 = 1;
const SECRET: &[u8] = b"for the peer alone";

/// Listens to all log events, and keeps none. With a single subscriber in the process, the first thread to log an event
/// decides whether it is ever logged: another test's thread, which has no subscriber, would switch it off.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| {
    Dispatch::new(
        tracing_subscriber::fmt()
            .with_writer(std::io::sink)
            .finish(),
    )
});

/// The log of this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn begin() -> (Self, DefaultGuard) {
        LazyLock::force(&SECOND);
        let log = Self::default();
        let to = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || to.clone());
        let guard = tracing::subscriber::set_default(subscriber.with_ansi(false).finish());
        (log, guard)
    }

    #[track_caller]
    fn assert_says(&self, words: &str) {
        let said = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        assert!(said.contains(words), "{words}: {said}");
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A gatherer that uses this node only.
async fn gatherer(node: &PaperNode) -> Gatherer {
    let origin: Url = node.origin().parse().unwrap();
    let config = AppConfig {
        origin: "https://node.invalid/".parse().unwrap(),
        roles: Roles {
            issuer: false,
            wallet: true,
            verifier: false,
            registry: false,
        },
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::Remote {
            nodes: vec![RegistryNode {
                origin: origin.clone(),
                token: "unused".to_owned().into(),
            }],
            pin: None,
            standstill: 0,
            witnesses: WitnessQuorum::default(),
        },
        resolver: ResolverConfig::default(),
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    };
    let parts = Parts {
        store: store().await,
        net: Net::new(NetSettings {
            own_origins: vec![origin.origin()],
            ..NetSettings::default()
        })
        .unwrap(),
        ledger: None,
        hsm: None,
        book_index: None,
    };
    let (app, _) = App::open(config, parts).await.unwrap();
    Gatherer::new(&app, Reuse::default())
}

fn shown(paper: &Paper, did: &Did) -> Config {
    Config {
        identities: Identities {
            certificate: None,
            ssi: Some(SsiIdentity {
                did: did.clone(),
                key: SigningKey::from_pkcs8(&paper.key_of(did)).unwrap(),
                vc: None,
                staples: Staples::default(),
            }),
        },
        ..Config::default()
    }
}

fn trusted(did: &Did) -> PeerPolicy {
    PeerPolicy {
        certificates: None,
        identities: Some(IdentityPolicy::of_dids(&["selfsame"], [did.clone()])),
    }
}

fn waiting(mut config: Config, patience: u64) -> Config {
    config.limits = Limits {
        patience,
        ..Limits::default()
    };
    config
}

/// The result of a handshake: each end's error, and what the server application read.
struct Met {
    client: Result<(), TlsError>,
    server: Result<(), TlsError>,
    read: Vec<u8>,
}

/// A client that sends a secret as early as possible, and a server that reads.
#[expect(
    clippy::disallowed_methods,
    reason = "a test is both ends of its connection"
)]
async fn meet(connector: Connector, acceptor: Acceptor) -> Met {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = async {
        let mut stream = connector
            .connect(TcpStream::connect(address).await.unwrap())
            .await
            .map_err(told)?;
        let gone = |error: std::io::Error| *tls_error(&error).expect("what TLS says");
        stream.write_all(SECRET).await.map_err(gone)?;
        stream.shutdown().await.map_err(gone)?;
        // The server's refusal arrives here, after the handshake is complete for a client that trusts it.
        stream.read_to_end(&mut Vec::new()).await.map_err(gone)?;
        Ok(())
    };
    let server = async {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.map_err(told)?;
        let mut read = Vec::new();
        stream.read_to_end(&mut read).await.unwrap();
        stream.shutdown().await.unwrap();
        Ok(read)
    };
    let (client, server) = tokio::join!(client, server);
    let (server, read) = match server {
        Ok(read) => (Ok(()), read),
        Err(error) => (Err(error), Vec::new()),
    };
    Met {
        client,
        server,
        read,
    }
}

fn told(error: Error) -> TlsError {
    match error {
        Error::Tls(error) => error,
        other => panic!("the handshake did not end by a refusal: {other}"),
    }
}

fn settings<G: selfsame_tls_io::Gather + 'static>(
    gather: G,
) -> HandshakeSettings<dyn selfsame_tls_io::Gather> {
    HandshakeSettings {
        handshake: HANDSHAKE,
        ..HandshakeSettings::of(Arc::new(gather) as Arc<dyn selfsame_tls_io::Gather>)
    }
}

/// A server with a DID, and a client that asks this node about it.
async fn asked_by_a_client(paper: &Paper, did: &Did, (node, patience): (&PaperNode, u64)) -> Met {
    let client = ClientConfig::new(waiting(Config::default(), patience), trusted(did)).unwrap();
    let server = ServerConfig::new(shown(paper, did), ClientAuth::None).unwrap();
    meet(
        Connector::new(Arc::new(client), settings(gatherer(node).await)),
        Acceptor::new(Arc::new(server), settings(Offline)),
    )
    .await
}

/// A server that asks this node about the DID of its client; the client knows the server by a DID that encodes its key.
async fn asked_by_a_server(paper: &Paper, did: &Did, (node, patience): (&PaperNode, u64)) -> Met {
    let key = selfsame_crypto::PrivateKey::generate(selfsame_crypto::KeyType::Ed25519).unwrap();
    let host = selfsame_did::key::create(key.public());
    let own = Config {
        identities: Identities {
            certificate: None,
            ssi: Some(SsiIdentity {
                did: host.clone(),
                key: SigningKey::from_pkcs8(key.to_pkcs8().unwrap().expose()).unwrap(),
                vc: None,
                staples: Staples::default(),
            }),
        },
        ..Config::default()
    };
    let expected = PeerPolicy {
        certificates: None,
        identities: Some(IdentityPolicy::of_dids(&["key", "selfsame"], [host])),
    };
    let client = ClientConfig::new(shown(paper, did), expected).unwrap();
    let clients = ClientAuth::Required(trusted(did));
    let server = ServerConfig::new(waiting(own, patience), clients).unwrap();
    meet(
        Connector::new(Arc::new(client), settings(Offline)),
        Acceptor::new(Arc::new(server), settings(gatherer(node).await)),
    )
    .await
}

fn refused(by: &Result<(), TlsError>) -> Option<Alert> {
    match by {
        Err(TlsError::Refused(refusal)) => Some(refusal.alert),
        _ => None,
    }
}

fn alerted(end: &Result<(), TlsError>) -> Option<Alert> {
    match end {
        Err(TlsError::Alerted(alert)) => Some(*alert),
        _ => None,
    }
}

/// The faults of the node, and what the log says about each.
fn faults() -> impl Iterator<Item = (Lie, &'static str)> {
    let lies = Lie::ABOUT_OBJECTS.map(|lie| match lie {
        // A checkpoint that is a day old may come from a node that is only behind.
        Lie::StaleCheckpoint => (lie, "a node of the registry is behind"),
        _ => (lie, "a node of the registry gave a false answer"),
    });
    let away = [Lie::Down, Lie::Busy].map(|lie| (lie, "a node of the registry did not answer"));
    lies.into_iter().chain(away)
}

#[tokio::test]
async fn a_peer_of_whom_an_honest_node_tells_is_let_in() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    let node = history.node(Lie::None).await;
    for met in [
        asked_by_a_client(&paper, &dids[0], (&node, PATIENT)).await,
        asked_by_a_server(&paper, &dids[1], (&node, PATIENT)).await,
    ] {
        assert_eq!((met.client, met.server), (Ok(()), Ok(())));
        assert_eq!(met.read, SECRET);
    }
    assert!(node.asked() > 0);
}

#[tokio::test]
async fn a_server_of_whom_a_registry_lies_or_says_nothing_is_refused_by_the_client() {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    for (lie, reason) in faults() {
        let (log, _guard) = Log::begin();
        let node = history.node(lie).await;
        let met = asked_by_a_client(&paper, &dids[0], (&node, PATIENT)).await;
        let alert = Some(Alert::CertificateUnknown);
        assert_eq!(refused(&met.client), alert, "{lie:?}: {:?}", met.client);
        assert_eq!(alerted(&met.server), alert, "{lie:?}: {:?}", met.server);
        assert_eq!(met.read, b"", "{lie:?}");
        assert!(node.asked() > 0, "{lie:?}");
        log.assert_says(reason);
    }
}

#[tokio::test]
async fn a_client_of_whom_a_registry_lies_or_says_nothing_is_refused_by_the_server() {
    let paper = Paper::new();
    let (history, dids) = paper.history(3).await;
    for (lie, reason) in faults() {
        let (log, _guard) = Log::begin();
        let node = history.node(lie).await;
        let met = asked_by_a_server(&paper, &dids[0], (&node, PATIENT)).await;
        let alert = Some(Alert::CertificateUnknown);
        assert_eq!(refused(&met.server), alert, "{lie:?}: {:?}", met.server);
        assert_eq!(alerted(&met.client), alert, "{lie:?}: {:?}", met.client);
        assert_eq!(met.read, b"", "{lie:?}");
        log.assert_says(reason);
    }
}

#[tokio::test]
async fn a_registry_that_is_slower_than_a_handshake_is_patient_lets_no_peer_in_at_either_end() {
    let paper = Paper::new();
    let (history, dids) = paper.history(2).await;
    let node = history.node(Lie::Silent).await;
    let by_client = asked_by_a_client(&paper, &dids[0], (&node, IMPATIENT)).await;
    let by_server = asked_by_a_server(&paper, &dids[1], (&node, IMPATIENT)).await;
    let alert = Some(Alert::CertificateUnknown);
    assert_eq!(refused(&by_client.client), alert, "{:?}", by_client.client);
    assert_eq!(alerted(&by_client.server), alert, "{:?}", by_client.server);
    assert_eq!(refused(&by_server.server), alert, "{:?}", by_server.server);
    assert_eq!(alerted(&by_server.client), alert, "{:?}", by_server.client);
    assert!(by_client.read.is_empty() && by_server.read.is_empty());
}
