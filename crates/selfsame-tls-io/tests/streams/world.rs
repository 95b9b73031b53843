//! Shared by these tests: nodes with DIDs, and gatherers that answer at once, late or never.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{
    Did, Document, Relationship, Representation, Resolution, VerificationMethod, key,
};
use selfsame_tls::evidence::{Failure, Found, NeedAnswer, Source};
use selfsame_tls::identity::{
    Identities, IdentityPolicy, PeerKind, PeerPolicy, SsiIdentity, Staples,
};
use selfsame_tls::{
    Alert, ClientAuth, ClientConfig, Config, Error as TlsError, HandshakeNeed, ServerConfig,
    SigningKey,
};
use selfsame_tls_io::{Error, Gather, GatherBlocking};

/// Two connected sockets.
#[expect(
    clippy::disallowed_methods,
    reason = "a test is both ends of its connection"
)]
pub fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

/// A node with a DID and its key.
pub struct Node {
    pub did: Did,
    key: PrivateKey,
}

impl Node {
    /// A node whose DID contains its key.
    pub fn new() -> Self {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let did = key::create(key.public());
        Self { did, key }
    }

    /// A node whose DID has to be resolved.
    pub fn named(did: &str) -> Self {
        let did = Did::parse(did).unwrap();
        Self { did, ..Self::new() }
    }

    fn identities(&self) -> Identities {
        let key = self.key.to_pkcs8().unwrap();
        Identities {
            certificate: None,
            ssi: Some(SsiIdentity {
                did: self.did.clone(),
                key: SigningKey::from_pkcs8(key.expose()).unwrap(),
                vc: None,
                staples: Staples::default(),
            }),
        }
    }

    pub fn common(&self) -> Config {
        Config {
            identities: self.identities(),
            ..Config::default()
        }
    }

    fn resolution(&self) -> Resolution {
        let mut document = Document::new(self.did.clone());
        let id = self.did.with_fragment("keys-1").unwrap();
        let method = VerificationMethod::json_web_key(id, self.key.public());
        document.add(method, &[Relationship::Authentication]);
        Resolution::found(document, Representation::default())
    }

    /// A policy that trusts exactly this DID.
    pub fn trusted(&self) -> PeerPolicy {
        PeerPolicy {
            certificates: None,
            identities: Some(IdentityPolicy::of_dids(&["key", "web"], [self.did.clone()])),
        }
    }

    /// A configuration of this node as a client that expects `server`.
    pub fn wants(&self, server: &Node) -> Arc<ClientConfig> {
        Arc::new(ClientConfig::new(self.common(), server.trusted()).unwrap())
    }

    /// A configuration of this node as a server that accepts only `client`.
    pub fn takes(&self, client: &Node) -> Arc<ServerConfig> {
        self.takes_with(client, |_| {})
    }

    pub fn takes_with(&self, client: &Node, change: impl FnOnce(&mut Config)) -> Arc<ServerConfig> {
        let mut common = self.common();
        change(&mut common);
        let clients = ClientAuth::Required(client.trusted());
        Arc::new(ServerConfig::new(common, clients).unwrap())
    }
}

/// A client and a server that trust each other.
pub fn pair() -> (Node, Node) {
    (Node::new(), Node::new())
}

/// Resolves known DIDs after a delay.
pub struct Registry {
    known: Vec<(Did, Resolution)>,
    delay: Duration,
    pub asked: AtomicUsize,
}

impl Registry {
    pub fn of(nodes: &[&Node], delay: Duration) -> Arc<Self> {
        let known = nodes
            .iter()
            .map(|node| (node.did.clone(), node.resolution()));
        Arc::new(Self {
            known: known.collect(),
            delay,
            asked: AtomicUsize::new(0),
        })
    }

    fn answer(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let HandshakeNeed::Did(did) = need else {
            return NeedAnswer::failed(need.clone(), Failure::Unavailable, now);
        };
        match self.known.iter().find(|(known, _)| known == did) {
            Some((_, resolution)) => {
                let found = Found::new(Arc::new(resolution.clone()), now, Source::Word);
                NeedAnswer::Did(did.clone(), found)
            }
            None => NeedAnswer::failed(need.clone(), Failure::Unavailable, now),
        }
    }
}

#[async_trait]
impl Gather for Registry {
    async fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        tokio::time::sleep(self.delay).await;
        self.answer(need, now)
    }
}

impl GatherBlocking for Registry {
    fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        std::thread::sleep(self.delay);
        self.answer(need, now)
    }
}

/// Never answers.
pub struct Silent;

#[async_trait]
impl Gather for Silent {
    async fn gather(&self, _need: &HandshakeNeed, _now: UnixTime) -> NeedAnswer {
        std::future::pending().await
    }
}

/// The alert we sent.
#[track_caller]
pub fn refused(error: &Error) -> Alert {
    match error {
        Error::Tls(TlsError::Refused(refusal)) => refusal.alert,
        other => panic!("not a refusal of ours: {other}"),
    }
}

/// The alert we were sent.
#[track_caller]
pub fn alerted(error: &TlsError) -> Alert {
    match error {
        TlsError::Alerted(alert) => *alert,
        other => panic!("not an alert of the peer: {other}"),
    }
}

/// Asserts that the peer is this node.
#[track_caller]
pub fn assert_is(kind: &PeerKind, node: &Node) {
    assert_eq!(kind, &PeerKind::Did(node.did.clone()));
}
