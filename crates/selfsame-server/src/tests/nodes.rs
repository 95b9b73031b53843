//! The second listener: nodes authenticate in TLS, and each request carries the peer's identity.
#![expect(clippy::disallowed_methods, reason = "these tests are the client")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router, routing};
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, key};
use selfsame_http::limits::ConnectionLimits;
use selfsame_http::pulse::Pulse;
use selfsame_http::serve::nodes::NodePeer;
use selfsame_http::serve::{Door, HttpService, serve};
use selfsame_http::shares::Shares;
use selfsame_tls::identity::{
    Identities, IdentityPolicy, PeerKind, PeerPolicy, SsiIdentity, Staples,
};
use selfsame_tls::{Alert, ClientAuth, ClientConfig, Config, ServerConfig, SigningKey};
use selfsame_tls_io::{Acceptor, Connector, Gather, HandshakeSettings, Offline, tls_error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::nodes::TlsGate;

fn node() -> (Did, Config) {
    let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let did = key::create(private.public());
    let secret = private.to_pkcs8().unwrap();
    let ssi = SsiIdentity {
        did: did.clone(),
        key: SigningKey::from_pkcs8(secret.expose()).unwrap(),
        vc: None,
        staples: Staples::default(),
    };
    let config = Config {
        identities: Identities {
            certificate: None,
            ssi: Some(ssi),
        },
        ..Config::default()
    };
    (did, config)
}

fn trust(did: &Did) -> PeerPolicy {
    PeerPolicy {
        certificates: None,
        identities: Some(IdentityPolicy::of_dids(&["key"], [did.clone()])),
    }
}

fn settings() -> HandshakeSettings<dyn Gather> {
    HandshakeSettings::of(Arc::new(Offline))
}

/// A listener for nodes that is serving.
struct Serving {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

async fn serving(acceptor: Acceptor<dyn Gather>) -> Serving {
    let service = HttpService {
        router: Router::new().route("/who", routing::get(who)),
        door: Door::Nodes(Arc::new(TlsGate(acceptor))),
        limits: ConnectionLimits::default(),
        shares: Shares::default(),
        requests: Shares::default(),
        pulse: Pulse::default(),
        stopping: watch::Sender::new(false),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(serve(listener, service, async move {
        let _ = stopped.await;
    }));
    Serving {
        address,
        stop,
        served,
    }
}

async fn who(Extension(NodePeer(peer)): Extension<NodePeer>) -> String {
    match &peer.kind {
        PeerKind::Did(did) => did.to_string(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_handler_knows_which_node_asks_and_a_stranger_reaches_none() {
    let (server, takes) = node();
    let (client, wants) = node();
    let (_, strange) = node();
    let takes = ServerConfig::new(takes, ClientAuth::Required(trust(&client))).unwrap();
    let Serving {
        address,
        stop,
        served,
    } = serving(Acceptor::new(Arc::new(takes), settings())).await;
    for (own, is_let_in) in [(wants, true), (strange, false)] {
        let config = ClientConfig::new(own, trust(&server)).unwrap();
        let connector: Connector = Connector::new(Arc::new(config), settings());
        let stream = TcpStream::connect(address).await.unwrap();
        let mut stream = connector.connect(stream).await.unwrap();
        let request = b"GET /who HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n";
        let mut answer = String::new();
        let asked = async {
            stream.write_all(request).await?;
            stream.flush().await?;
            stream.read_to_string(&mut answer).await
        };
        assert_eq!(asked.await.is_ok(), is_let_in, "{answer}");
        assert_eq!(answer.ends_with(client.as_str()), is_let_in, "{answer}");
    }
    stop.send(()).unwrap();
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_open_connection_ends_once_its_node_is_not_let_in_any_more() {
    let (server, takes) = node();
    let (client, wants) = node();
    let takes = |client: &Did| {
        let clients = ClientAuth::Required(trust(client));
        Arc::new(ServerConfig::new(takes.clone(), clients).unwrap())
    };
    let acceptor = Acceptor::new(takes(&client), settings());
    let Serving {
        address,
        stop,
        served,
    } = serving(acceptor.clone()).await;
    let config = ClientConfig::new(wants, trust(&server)).unwrap();
    let connector: Connector = Connector::new(Arc::new(config), settings());
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = connector.connect(stream).await.unwrap();
    let request = b"GET /who HTTP/1.1\r\nHost: node\r\n\r\n";
    stream.write_all(request).await.unwrap();
    stream.flush().await.unwrap();
    let mut answer = vec![0; 1024];
    let count = stream.read(&mut answer).await.unwrap();
    assert!(answer[..count].starts_with(b"HTTP/1.1 200"));

    let (other, _) = node();
    acceptor.reconfigure(takes(&other));
    let told = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut answer));
    let told = told.await.expect("it goes on").unwrap_err();
    let alert = Some(&selfsame_tls::Error::Alerted(Alert::AccessDenied));
    assert_eq!(tls_error(&told), alert);
    stop.send(()).unwrap();
    served.await.unwrap().unwrap();
}
