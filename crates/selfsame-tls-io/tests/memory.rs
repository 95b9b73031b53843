//! Memory use of a long transfer. Runs in its own process, so that nothing else is counted.

use std::net::Ipv4Addr;
use std::sync::Arc;

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::key;
use selfsame_tls::identity::{Identities, IdentityPolicy, PeerPolicy, SsiIdentity, Staples};
use selfsame_tls::{ClientAuth, ClientConfig, Config, ServerConfig, SigningKey};
use selfsame_tls_io::{Acceptor, Connector, HandshakeSettings, Offline};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TOTAL: usize = 100 * 1024 * 1024;
/// More than both ends need, apart from their sockets' buffers.
const MOST_KIB: u64 = 8 * 1024;

/// Peak memory of this process, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.unwrap().split_whitespace().nth(1);
    digits.unwrap().parse().unwrap()
}

#[tokio::test]
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "a test is both ends of its connection"
)]
async fn a_hundred_megabytes_go_through_without_being_kept() {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let did = key::create(key.public());
    let common = Config {
        identities: Identities {
            certificate: None,
            ssi: Some(SsiIdentity {
                did: did.clone(),
                key: SigningKey::from_pkcs8(key.to_pkcs8().unwrap().expose()).unwrap(),
                vc: None,
                staples: Staples::default(),
            }),
        },
        ..Config::default()
    };
    let policy = PeerPolicy {
        certificates: None,
        identities: Some(IdentityPolicy::of_dids(&["key"], [did])),
    };
    let wants = Arc::new(ClientConfig::new(Config::default(), policy).unwrap());
    let takes = Arc::new(ServerConfig::new(common, ClientAuth::None).unwrap());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap());
    let (one, other) = tokio::join!(one, listener.accept());
    let connector = Connector::new(wants, HandshakeSettings::new(Offline));
    let acceptor = Acceptor::new(takes, HandshakeSettings::new(Offline));
    let (one, other) = tokio::join!(
        connector.connect(one.unwrap()),
        acceptor.accept(other.unwrap().0)
    );
    let (mut one, mut other) = (one.unwrap(), other.unwrap());
    let before = peak_kib();
    let send = async {
        let block = vec![3; 256 * 1024];
        for _ in 0..TOTAL / block.len() {
            other.write_all(&block).await.unwrap();
        }
        other.shutdown().await.unwrap();
    };
    let receive = async {
        let mut block = vec![0; 64 * 1024];
        let mut total = 0;
        loop {
            match one.read(&mut block).await.unwrap() {
                0 => break total,
                count => total += count,
            }
        }
    };
    let ((), received) = tokio::join!(send, receive);
    assert_eq!(received, TOTAL);
    let grown = peak_kib() - before;
    assert!(grown < MOST_KIB, "{grown} KiB more");
}
