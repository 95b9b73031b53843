//! Watched open connections.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::evidence::{Failure, NeedAnswer};
use selfsame_tls::identity::Peer;
use selfsame_tls::{Alert, HandshakeNeed, Refusal};
use selfsame_tls_io::{
    Acceptor, Connector, Gather, HandshakeSettings, Lapse, Offline, Stream, Watch, tls_error,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::time::Instant;

use crate::world::{Node, Registry, alerted, pair};

const EVERY: Duration = Duration::from_secs(10);

/// Asks this registry, which a test can replace or make unavailable.
struct Line {
    registry: Mutex<Arc<Registry>>,
    is_away: AtomicBool,
}

#[async_trait]
impl Gather for Line {
    async fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        if self.is_away.load(Ordering::Relaxed) {
            return NeedAnswer::failed(need.clone(), Failure::Unavailable, now);
        }
        let registry = Arc::clone(&self.registry.lock().unwrap());
        Gather::gather(&registry, need, now).await
    }
}

/// A server, its connected client that is resolved through a registry, and the gatherer that does so.
async fn let_in() -> (Acceptor<Line>, Arc<Peer>, Arc<Line>, (Node, Node)) {
    let (client, server) = (Node::named("did:web:client.example"), Node::new());
    let line = Arc::new(Line {
        registry: Mutex::new(Registry::of(&[&client], Duration::ZERO)),
        is_away: AtomicBool::new(false),
    });
    let acceptor = Acceptor::new(
        server.takes(&client),
        HandshakeSettings::of(Arc::clone(&line)),
    );
    let connector = Connector::new(client.wants(&server), HandshakeSettings::new(Offline));
    let (one, other) = duplex(64 * 1024);
    let (_, other) = tokio::join!(connector.connect(one), acceptor.accept(other));
    let peer = Arc::clone(other.unwrap().peer());
    (acceptor, peer, line, (client, server))
}

fn every() -> Watch {
    Watch {
        every: EVERY,
        longest: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_ends_within_the_period_once_its_peer_is_not_let_in_any_more() {
    let (acceptor, peer, line, _) = let_in().await;
    let watched = acceptor.lapse(&peer, every());
    tokio::pin!(watched);
    let goes_on = tokio::time::timeout(10 * EVERY, &mut watched).await;
    assert!(goes_on.is_err(), "{goes_on:?}");
    // The DID has another key now.
    let rotated = Node::named("did:web:client.example");
    *line.registry.lock().unwrap() = Registry::of(&[&rotated], Duration::ZERO);
    let began = Instant::now();
    let Lapse::Over(refusal) = watched.await else {
        panic!("it ended for another reason");
    };
    assert_eq!(refusal.alert, Alert::DecryptError);
    assert!(began.elapsed() <= EVERY);
}

#[tokio::test(start_paused = true)]
async fn another_configuration_has_what_is_open_judged_at_once() {
    let (acceptor, peer, _, (client, server)) = let_in().await;
    let rare = Watch {
        every: 1000 * EVERY,
        longest: None,
    };
    let watched = acceptor.lapse(&peer, rare);
    tokio::pin!(watched);
    // Setting an equivalent configuration lets the connection continue.
    acceptor.reconfigure(server.takes(&client));
    let goes_on = tokio::time::timeout(EVERY, &mut watched).await;
    assert!(goes_on.is_err(), "{goes_on:?}");
    acceptor.reconfigure(server.takes(&Node::new()));
    let Lapse::Over(refusal) = tokio::time::timeout(EVERY, watched).await.unwrap() else {
        panic!("it ended for another reason");
    };
    assert_eq!(refusal.alert, Alert::AccessDenied);
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_looked_up_goes_on_for_as_long_as_what_was_known_lasts() {
    let (acceptor, mut peer, line, _) = let_in().await;
    line.is_away.store(true, Ordering::Relaxed);
    let watched = acceptor.lapse(&peer, every());
    let goes_on = tokio::time::timeout(10 * EVERY, watched).await;
    assert!(goes_on.is_err(), "{goes_on:?}");
    // The earlier evidence has long expired.
    Arc::make_mut(&mut peer).until = Some(UnixTime(1));
    let lapse = acceptor.lapse(&peer, every()).await;
    assert!(matches!(lapse, Lapse::Unknown(_)), "{lapse}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_lasts_no_longer_than_one_may() {
    let (client, server) = pair();
    let acceptor = Acceptor::new(server.takes(&client), HandshakeSettings::new(Offline));
    let connector = Connector::new(client.wants(&server), HandshakeSettings::new(Offline));
    let (one, other) = duplex(64 * 1024);
    let (one, other) = tokio::join!(connector.connect(one), acceptor.accept(other));
    let (server, client) = (
        Arc::clone(one.unwrap().peer()),
        Arc::clone(other.unwrap().peer()),
    );
    let watch = Watch {
        every: EVERY,
        longest: Some(EVERY * 5),
    };
    let began = Instant::now();
    let lapses = tokio::join!(
        acceptor.lapse(&client, watch),
        connector.lapse(&server, watch)
    );
    assert_eq!(lapses, (Lapse::Longest, Lapse::Longest));
    assert_eq!(began.elapsed(), EVERY * 5);
}

/// Both ends of a connection.
async fn connected() -> (Stream<DuplexStream>, Stream<DuplexStream>) {
    let (client, server) = pair();
    let acceptor = Acceptor::new(server.takes(&client), HandshakeSettings::new(Offline));
    let connector = Connector::new(client.wants(&server), HandshakeSettings::new(Offline));
    let (one, other) = duplex(64 * 1024);
    let (one, other) = tokio::join!(connector.connect(one), acceptor.accept(other));
    (one.unwrap(), other.unwrap())
}

/// The alert the peer gets at the end.
async fn told(stream: &mut Stream<DuplexStream>) -> Alert {
    let mut read = Vec::new();
    let error = stream.read_to_end(&mut read).await.unwrap_err();
    alerted(tls_error(&error).unwrap())
}

fn revoked() -> Lapse {
    let again = Refusal::new(Alert::CertificateRevoked, "it was revoked");
    Lapse::Over(again)
}

#[tokio::test(start_paused = true)]
async fn a_peer_is_told_why_its_connection_has_to_end() {
    // Reaching the maximum lifetime does not mean that all data was sent.
    for (lapse, alert) in [
        (revoked(), Alert::CertificateRevoked),
        (Lapse::Longest, Alert::AccessDenied),
    ] {
        let (mut client, mut server) = connected().await;
        server.write_all(b"the first half").await.unwrap();
        let (said, ()) = tokio::join!(told(&mut client), server.end(lapse));
        assert_eq!(said, alert);
        server.write_all(b"the second half").await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_was_given_away_ends_by_itself_and_tells_the_peer() {
    let (mut client, server) = connected().await;
    let mut server = server.watched(async {
        tokio::time::sleep(EVERY).await;
        revoked()
    });
    let began = Instant::now();
    let (said, read) = tokio::join!(told(&mut client), server.read_u8());
    assert_eq!(said, Alert::CertificateRevoked);
    assert_eq!(began.elapsed(), EVERY);
    let why = read.unwrap_err();
    assert!(why.get_ref().unwrap().is::<Lapse>(), "{why}");
    server.write_all(b"more").await.unwrap_err();
}
