//! Calls to a node that authenticates by its DID instead of a certificate.

use std::sync::Arc;
use std::time::Duration;

use selfsame_app::tls::NodeConnector;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, key};
use selfsame_net::{Net, NetError, Request, SecureNode, Settings};
use selfsame_tls::identity::{Identities, IdentityPolicy, PeerPolicy, SsiIdentity, Staples};
use selfsame_tls::{Alert, ClientAuth, ClientConfig, Config, ServerConfig, SigningKey};
use selfsame_tls_io::{
    Acceptor, Connector, Gather, HandshakeSettings as Driven, Offline, tls_error,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use url::Url;

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
    let identities = Identities {
        certificate: None,
        ssi: Some(ssi),
    };
    let config = Config {
        identities,
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

fn secured(connector: &Connector) -> Arc<dyn SecureNode> {
    Arc::new(NodeConnector(connector.clone()))
}

fn driven() -> Driven<dyn Gather> {
    Driven::of(Arc::new(Offline))
}

/// A node that answers every request in one way, and only to this client.
async fn listening(own: Config, client: &Did) -> Url {
    let config = ServerConfig::new(own, ClientAuth::Required(trust(client))).unwrap();
    let acceptor: Acceptor = Acceptor::new(Arc::new(config), driven());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
            stream.write_all(answer).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    Url::parse(&format!("https://node.example:{port}/")).unwrap()
}

fn net(at: &Url) -> Net {
    let settings = Settings {
        own_origins: vec![at.origin()],
        native_roots: false,
        hosts: [(
            "node.example".to_owned(),
            vec!["127.0.0.1".parse().unwrap()],
        )]
        .into(),
        ..Settings::default()
    };
    Net::new(settings).unwrap()
}

fn reach(at: &Url, own: Config, server: &Did) -> Net {
    let config = ClientConfig::new(own, trust(server)).unwrap();
    let net = net(at);
    let nodes = vec![(
        at.origin(),
        secured(&Connector::new(Arc::new(config), driven())),
    )];
    net.reach_nodes(nodes).unwrap();
    net
}

#[tokio::test]
async fn a_node_is_called_by_its_did_and_another_is_not() {
    let (server, takes) = node();
    let (client, wants) = node();
    let (other, strange) = node();
    let at = listening(takes, &client).await;
    let called = reach(&at, wants.clone(), &server);
    for _ in 0..2 {
        let response = called.get(&at, &Request::default()).await.unwrap();
        assert_eq!((response.status, &*response.body), (200, &b"hello"[..]));
    }
    let another = reach(&at, wants, &other);
    let refused = another.get(&at, &Request::default()).await.unwrap_err();
    assert!(
        matches!(&refused, NetError::Tls(why) if why.contains("access_denied")),
        "{refused}"
    );
    let stranger = reach(&at, strange, &server);
    let refused = stranger.get(&at, &Request::default()).await.unwrap_err();
    assert!(
        matches!(&refused, NetError::Tls(why) if why.contains("access_denied")),
        "{refused}"
    );
}

#[tokio::test]
async fn only_an_own_origin_is_a_node_and_that_is_said_once() {
    let (server, _) = node();
    let (_, wants) = node();
    let at = Url::parse("https://node.example:7443/").unwrap();
    let elsewhere = Url::parse("https://else.example:7443/").unwrap();
    let config = Arc::new(ClientConfig::new(wants, trust(&server)).unwrap());
    let connector: Connector = Connector::new(config, driven());
    let net = net(&at);
    let foreign = net.reach_nodes(vec![(elsewhere.origin(), secured(&connector))]);
    assert!(matches!(foreign, Err(NetError::Setup(_))));
    net.reach_nodes(vec![(at.origin(), secured(&connector))])
        .unwrap();
    assert!(matches!(
        net.reach_nodes(Vec::new()),
        Err(NetError::Setup(_))
    ));
}

#[tokio::test]
async fn a_connection_that_is_kept_ends_once_its_node_is_not_let_in_any_more() {
    let (server, takes) = node();
    let (client, wants) = node();
    let (other, _) = node();
    let config = ServerConfig::new(takes, ClientAuth::Required(trust(&client))).unwrap();
    let acceptor: Acceptor = Acceptor::new(Arc::new(config), driven());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        stream.write_all(answer).await.unwrap();
        stream.flush().await.unwrap();
        stream.read_u8().await.unwrap_err()
    });
    let at = Url::parse(&format!("https://node.example:{port}/")).unwrap();
    let wanted = |did: &Did| Arc::new(ClientConfig::new(wants.clone(), trust(did)).unwrap());
    let connector: Connector = Connector::new(wanted(&server), driven());
    let net = net(&at);
    net.reach_nodes(vec![(at.origin(), secured(&connector))])
        .unwrap();
    let response = net.get(&at, &Request::default()).await.unwrap();
    assert_eq!(response.status, 200);
    connector.reconfigure(wanted(&other));
    let ended = tokio::time::timeout(Duration::from_secs(60), serving).await;
    let error = ended.unwrap().unwrap();
    let Some(selfsame_tls::Error::Alerted(alert)) = tls_error(&error) else {
        panic!("it ended in another way: {error}")
    };
    assert_eq!(*alert, Alert::AccessDenied);
}
