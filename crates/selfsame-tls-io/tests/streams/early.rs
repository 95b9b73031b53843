//! Early data over both kinds of stream: answered before the handshake is done, and separate from the stream.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::thread;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::identity::{Peer, PeerKind};
use selfsame_tls::resumption::{EarlyData, Revalidate, Sessions, StrikeRegister, TicketKeys};
use selfsame_tls::{ClientAuth, ClientConfig, Config, ServerConfig};
use selfsame_tls_io::{Acceptor, Connector, HandshakeSettings, Offline, blocking};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

use crate::world::{Node, assert_is, pair, sockets};

const NOW: UnixTime = UnixTime(1_790_000_000);

/// A clock that stands still, so that no test depends on how long it takes.
fn settings() -> HandshakeSettings<Offline> {
    HandshakeSettings {
        clock: Arc::new(|| Ctx::new(NOW, random_seed())),
        ..HandshakeSettings::new(Offline)
    }
}

/// Lets every peer resume.
#[derive(Debug)]
struct Believer;

impl Revalidate for Believer {
    fn epoch(&self) -> u64 {
        0
    }

    fn still_holds(&self, _peer: &Peer, _epoch: u64, _now: UnixTime) -> bool {
        true
    }
}

fn believing(node: &Node) -> Config {
    Config {
        revalidate: Some(Arc::new(Believer)),
        ..node.common()
    }
}

/// A client and a server that trust each other and have early data enabled; the strike register has room for one hello.
fn configs(client: &Node, server: &Node) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
    let wants = ClientConfig::new(believing(client), server.trusted()).unwrap();
    let takes = ClientAuth::Required(client.trusted());
    let takes = ServerConfig::new(believing(server), takes).unwrap();
    let strikes = Arc::new(StrikeRegister::new(1, NOW.minus(1000)));
    let takes = takes.with_tickets(TicketKeys::new([7; 32]));
    (
        Arc::new(wants.with_sessions(Sessions::new(8)).with_early_data()),
        Arc::new(takes.with_early_data(EarlyData::new(strikes))),
    )
}

/// Whether early data is taken: not without a ticket, then once, then not, because the strike register is full.
const ROUNDS: [bool; 3] = [false, true, false];

/// The server's reply to early data.
fn answer(who: &PeerKind, data: &[u8], client: &Node) -> Vec<u8> {
    assert_is(who, client);
    [b"to ", data].concat()
}

#[tokio::test]
async fn early_data_is_answered_over_tokio_and_said_to_be_taken_or_not() {
    let (client, server) = pair();
    let (wants, takes) = configs(&client, &server);
    let connector = Connector::new(wants, settings());
    let acceptor = Acceptor::new(takes, settings());
    for expected in ROUNDS {
        let (one, other) = duplex(64 * 1024);
        let early = |peer: &Peer, data: &[u8]| answer(&peer.kind, data, &client);
        let (one, other) = tokio::join!(
            connector.connect_early(one, b"early"),
            acceptor.accept_early(other, early)
        );
        let ((mut one, is_taken), mut other) = (one.unwrap(), other.unwrap());
        assert_eq!(is_taken, expected);
        let mut heard = Vec::new();
        one.write_all(b"ordinary").await.unwrap();
        one.shutdown().await.unwrap();
        other.read_to_end(&mut heard).await.unwrap();
        assert_eq!(heard, b"ordinary");
        other.write_all(b"!").await.unwrap();
        other.shutdown().await.unwrap();
        let mut heard = Vec::new();
        one.read_to_end(&mut heard).await.unwrap();
        assert_eq!(heard, if expected { &b"to early!"[..] } else { b"!" });
    }
}

#[test]
fn early_data_is_answered_over_threads_and_said_to_be_taken_or_not() {
    let (client, server) = pair();
    let (wants, takes) = configs(&client, &server);
    let client = Arc::new(client);
    for expected in ROUNDS {
        let (one, other) = sockets();
        let (takes, from) = (Arc::clone(&takes), Arc::clone(&client));
        let serving = thread::spawn(move || {
            let early = |peer: &Peer, data: &[u8]| answer(&peer.kind, data, &from);
            let mut other = blocking::accept_early(other, &takes, &settings(), early).unwrap();
            let mut heard = String::new();
            other.read_to_string(&mut heard).unwrap();
            other.write_all(b"!").unwrap();
            other.close().unwrap();
            heard
        });
        let (mut one, is_taken) =
            blocking::connect_early(one, &wants, &settings(), b"early").unwrap();
        assert_eq!(is_taken, expected);
        one.write_all(b"ordinary").unwrap();
        one.close().unwrap();
        let mut heard = Vec::new();
        one.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, if expected { &b"to early!"[..] } else { b"!" });
        assert_eq!(serving.join().unwrap(), "ordinary");
    }
}

#[tokio::test]
async fn more_than_the_ticket_allows_is_not_sent_early_at_all() {
    let (client, server) = pair();
    let (wants, takes) = configs(&client, &server);
    let connector = Connector::new(wants, settings());
    let acceptor = Acceptor::new(takes, settings());
    for length in [0, 16 * 1024 + 1] {
        let (one, other) = duplex(64 * 1024);
        let (one, other) = tokio::join!(connector.connect(one), acceptor.accept(other));
        let (mut one, mut other) = (one.unwrap(), other.unwrap());
        other.write_all(b"!").await.unwrap();
        other.flush().await.unwrap();
        one.read_exact(&mut [0]).await.unwrap();

        let data = vec![7; length];
        let (one, other) = duplex(64 * 1024);
        let never = |_: &Peer, _: &[u8]| panic!("nothing is early");
        let (one, other) = tokio::join!(
            connector.connect_early(one, &data),
            acceptor.accept_early(other, never)
        );
        assert!(!one.unwrap().1);
        assert!(other.unwrap().peer().resumed.is_some());
    }
}
