//! tokio streams.

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use selfsame_tls::{Alert, Limits, Slots};
use selfsame_tls_io::{
    Acceptor, Bounds, Connector, Error, Gather, HandshakeSettings, Offline, Stream, tls_error,
};
use tokio::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex, split,
};

use crate::world::{Node, Registry, Silent, alerted, assert_is, pair, refused};

type Ends = (
    Result<Stream<DuplexStream>, Error>,
    Result<Stream<DuplexStream>, Error>,
);

fn offline() -> HandshakeSettings<Offline> {
    HandshakeSettings::new(Offline)
}

/// Both ends after a handshake through a pipe with a buffer of `room` bytes.
async fn meet<C: Gather, S: Gather>(
    connector: &Connector<C>,
    acceptor: &Acceptor<S>,
    room: usize,
) -> Ends {
    let (one, other) = duplex(room);
    tokio::join!(connector.connect(one), acceptor.accept(other))
}

/// Two connected ends.
async fn connected(room: usize) -> (Stream<DuplexStream>, Stream<DuplexStream>) {
    let (client, server) = pair();
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (one, other) = meet(&connector, &acceptor, room).await;
    (one.unwrap(), other.unwrap())
}

async fn assert_talk<S: AsyncRead + AsyncWrite + Unpin>(one: &mut S, other: &mut S) {
    one.write_all(b"ping").await.unwrap();
    one.flush().await.unwrap();
    let mut heard = [0; 4];
    other.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"ping");
}

#[tokio::test]
async fn both_ends_know_each_other_and_talk() {
    let (client, server) = pair();
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&client), offline());
    // Also through a pipe whose buffer is smaller than a record.
    for room in [64 * 1024, 100] {
        let (one, other) = meet(&connector, &acceptor, room).await;
        let (mut one, mut other) = (one.unwrap(), other.unwrap());
        assert_is(&one.peer().kind, &server);
        assert_is(&other.peer().kind, &client);
        assert_talk(&mut one, &mut other).await;
        assert_talk(&mut other, &mut one).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_handshake_needs_is_asked_for_once_and_waited_for() {
    let client = Node::named("did:web:client.example");
    let server = Node::named("did:web:server.example");
    let registry = Registry::of(&[&client, &server], Duration::from_secs(2));
    let connector = Connector::new(
        client.wants(&server),
        HandshakeSettings::of(Arc::clone(&registry)),
    );
    let acceptor = Acceptor::new(
        server.takes(&client),
        HandshakeSettings::of(Arc::clone(&registry)),
    );
    let (one, other) = meet(&connector, &acceptor, 64 * 1024).await;
    let (mut one, mut other) = (one.unwrap(), other.unwrap());
    assert_is(&one.peer().kind, &server);
    assert_is(&other.peer().kind, &client);
    assert_eq!(registry.asked.load(Ordering::Relaxed), 2);
    assert_talk(&mut one, &mut other).await;
}

#[tokio::test]
async fn a_client_that_is_not_expected_is_told_so_and_nothing_of_what_it_sent_is_read() {
    let (client, server) = pair();
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&Node::new()), offline());
    let (one, other) = meet(&connector, &acceptor, 64 * 1024).await;
    assert_eq!(refused(&other.unwrap_err()), Alert::AccessDenied);
    // The client's part of the handshake has succeeded.
    let mut one = one.unwrap();
    let error = one.read(&mut [0; 16]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    assert_eq!(alerted(tls_error(&error).unwrap()), Alert::AccessDenied);
    // The error is permanent.
    assert!(one.read(&mut [0; 16]).await.is_err());
    assert!(one.write(b"more").await.is_err());
}

#[tokio::test]
async fn another_configuration_is_of_further_handshakes_and_of_all_clones() {
    let (client, server) = pair();
    let (next, other) = pair();
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (connecting, accepting) = (connector.clone(), acceptor.clone());
    let (one, open) = meet(&connector, &acceptor, 64 * 1024).await;
    let (mut one, mut open) = (one.unwrap(), open.unwrap());

    accepting.reconfigure(other.takes(&next));
    let (_, refused_now) = meet(&connector, &acceptor, 64 * 1024).await;
    assert!(refused_now.is_err());
    connecting.reconfigure(next.wants(&other));
    let (to, from) = meet(&connector, &acceptor, 64 * 1024).await;
    assert_is(&to.unwrap().peer().kind, &other);
    assert_is(&from.unwrap().peer().kind, &next);
    assert_talk(&mut one, &mut open).await;
}

#[tokio::test]
async fn a_server_that_is_not_expected_is_told_so() {
    let (client, server) = pair();
    let connector = Connector::new(client.wants(&Node::new()), offline());
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (one, other) = meet(&connector, &acceptor, 64 * 1024).await;
    assert_eq!(refused(&one.unwrap_err()), Alert::AccessDenied);
    let Error::Tls(error) = other.unwrap_err() else {
        panic!("the server heard nothing");
    };
    assert_eq!(alerted(&error), Alert::AccessDenied);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_is_given_up() {
    let (client, server) = pair();
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (one, other) = duplex(1024);
    assert!(matches!(acceptor.accept(other).await, Err(Error::Silent)));
    drop(one);
    let connector = Connector::new(client.wants(&server), offline());
    let (one, other) = duplex(1024);
    assert!(matches!(connector.connect(one).await, Err(Error::TimedOut)));
    drop(other);
}

#[tokio::test]
async fn a_peer_that_goes_away_in_the_middle_is_an_error() {
    let (client, server) = pair();
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (mut one, other) = duplex(1024);
    one.write_all(&[22, 3, 1, 0]).await.unwrap();
    drop(one);
    let error = acceptor.accept(other).await.unwrap_err();
    assert!(
        matches!(error, Error::Tls(selfsame_tls::Error::Truncated)),
        "{error}"
    );
}

#[tokio::test]
async fn evidence_that_does_not_come_ends_the_patience_and_the_peer_is_told() {
    let (client, server) = (Node::named("did:web:client.example"), Node::new());
    let impatient = Limits {
        patience: 1,
        ..Limits::default()
    };
    let takes = server.takes_with(&client, |common| common.limits = impatient);
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(takes, HandshakeSettings::new(Silent));
    let (one, other) = meet(&connector, &acceptor, 64 * 1024).await;
    assert_eq!(refused(&other.unwrap_err()), Alert::CertificateUnknown);
    let error = one.unwrap().read(&mut [0; 16]).await.unwrap_err();
    assert_eq!(
        alerted(tls_error(&error).unwrap()),
        Alert::CertificateUnknown
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_left_after_three_seconds() {
    let (client, server) = pair();
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (_silent, other) = duplex(1024);
    let began = tokio::time::Instant::now();
    let left = acceptor.accept(other).await.unwrap_err();
    assert!(matches!(left, Error::Silent), "{left}");
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    // A client that has begun gets the time-out of the handshake.
    let (mut slow, other) = duplex(1024);
    slow.write_all(&[22]).await.unwrap();
    let left = acceptor.accept(other).await.unwrap_err();
    assert!(matches!(left, Error::TimedOut), "{left}");
}

#[tokio::test(start_paused = true)]
async fn silent_clients_shut_no_other_client_out() {
    let (client, server) = pair();
    let bounds = Bounds {
        handshakes: 2,
        share: 1,
        ..Bounds::default()
    };
    let acceptor = Acceptor::new(server.takes(&client), offline()).with_bounds(bounds);
    let enter = |address: &str| {
        let (silent, other) = duplex(1024);
        let (acceptor, from) = (acceptor.clone(), address.parse().unwrap());
        let left = tokio::spawn(async move { acceptor.accept_from(other, from).await.map(drop) });
        (silent, left)
    };
    let (_one, first) = enter("192.0.2.1");
    tokio::task::yield_now().await;
    let (_other, second) = enter("192.0.2.1");
    let (_last, third) = enter("192.0.2.2");
    // The address has used its share, so its later handshake took the place of its earlier one.
    let left = first.await.unwrap().unwrap_err();
    assert!(matches!(left, Error::Crowded), "{left}");
    // All places are taken by silent clients: the oldest loses its place to the next.
    let connector = Connector::new(client.wants(&server), offline());
    let (one, other) = meet(&connector, &acceptor, 64 * 1024).await;
    assert!(one.is_ok() && other.is_ok());
    let left = second.await.unwrap().unwrap_err();
    assert!(matches!(left, Error::Crowded), "{left}");
    let left = third.await.unwrap().unwrap_err();
    assert!(matches!(left, Error::Silent), "{left}");
}

#[tokio::test]
async fn handshakes_that_wait_are_capped_and_give_their_place_back() {
    let (client, server) = (Node::named("did:web:client.example"), Node::new());
    let limits = Limits {
        suspended: Slots::new(1),
        ..Limits::default()
    };
    let slots = limits.suspended.clone();
    let takes = server.takes_with(&client, |common| common.limits = limits);
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(Arc::clone(&takes), HandshakeSettings::new(Silent));
    let (one, other) = duplex(64 * 1024);
    let waiting = tokio::spawn(async move { acceptor.accept(other).await.map(|_| ()) });
    let mut one = connector.connect(one).await.unwrap();
    while slots.taken() == 0 {
        tokio::task::yield_now().await;
    }
    let registry = Registry::of(&[&client], Duration::ZERO);
    let acceptor = Acceptor::new(takes, HandshakeSettings::of(registry));
    let (_, other) = meet(&connector, &acceptor, 64 * 1024).await;
    assert_eq!(refused(&other.unwrap_err()), Alert::InternalError);
    // The first gives up, which frees a place.
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert!(one.read(&mut [0; 16]).await.is_err());
    assert_eq!(slots.taken(), 0);
    let (one, other) = meet(&connector, &acceptor, 64 * 1024).await;
    assert!(one.is_ok() && other.is_ok());
}

#[tokio::test]
async fn a_client_may_send_at_once_and_what_it_sent_waits_for_the_evidence() {
    let (client, server) = (Node::named("did:web:client.example"), Node::new());
    let registry = Registry::of(&[&client], Duration::from_millis(100));
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&client), HandshakeSettings::of(registry));
    let (one, other) = duplex(16 * 1024);
    let sent = vec![7; 300_000];
    let send = async {
        let mut one = connector.connect(one).await.unwrap();
        one.write_all(&sent).await.unwrap();
        one.shutdown().await.unwrap();
        one
    };
    let receive = async {
        let mut other = acceptor.accept(other).await.unwrap();
        let mut received = Vec::new();
        other.read_to_end(&mut received).await.unwrap();
        received
    };
    let (_one, received) = tokio::join!(send, receive);
    assert_eq!(received, sent);
}

#[tokio::test]
async fn one_side_may_end_and_go_on_listening() {
    let (mut one, mut other) = connected(64 * 1024).await;
    one.write_all(b"question").await.unwrap();
    one.shutdown().await.unwrap();
    let mut question = String::new();
    other.read_to_string(&mut question).await.unwrap();
    assert_eq!(question, "question");
    other.write_all(b"answer").await.unwrap();
    other.shutdown().await.unwrap();
    let mut answer = String::new();
    one.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "answer");
    let error = one.write(b"more").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn an_end_without_close_notify_is_a_cut() {
    let (mut one, other) = connected(64 * 1024).await;
    drop(other);
    let error = one.read(&mut [0; 16]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

#[tokio::test]
async fn a_writer_waits_for_a_reader_that_does_not_read() {
    let (mut one, mut other) = connected(4096).await;
    let most = tokio::time::timeout(Duration::from_millis(200), async {
        let mut written = 0_usize;
        loop {
            written += one.write(&[1; 8192]).await.unwrap();
            assert!(written < 1_000_000, "all of it was taken");
        }
    });
    assert!(most.await.is_err());
    // It continues when the reader does.
    let reading = tokio::spawn(async move {
        let mut all = Vec::new();
        other.read_to_end(&mut all).await.unwrap();
        all.len()
    });
    one.write_all(&[1; 8192]).await.unwrap();
    one.shutdown().await.unwrap();
    assert!(reading.await.unwrap() >= 8192);
}

#[tokio::test]
async fn keys_are_renewed_while_both_sides_send() {
    let (one, other) = connected(4096).await;
    let (mut one, other) = (one, other);
    one.update_keys().unwrap();
    let (mut one_reads, mut one_writes) = split(one);
    let (mut other_reads, mut other_writes) = split(other);
    let sent: Vec<u8> = (0..200_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let send = async |to: &mut (dyn AsyncWrite + Send + Unpin)| {
        to.write_all(&sent).await.unwrap();
        to.shutdown().await.unwrap();
    };
    let receive = async |from: &mut (dyn AsyncRead + Send + Unpin)| {
        let mut received = Vec::new();
        from.read_to_end(&mut received).await.unwrap();
        assert!(received == sent);
    };
    tokio::join!(
        send(&mut one_writes),
        send(&mut other_writes),
        receive(&mut one_reads),
        receive(&mut other_reads)
    );
}

#[tokio::test]
async fn a_changed_byte_ends_the_connection_with_an_alert() {
    let (client, server) = pair();
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (one, mut near) = duplex(64 * 1024);
    let (mut far, other) = duplex(64 * 1024);
    let (mut up, mut down) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let changes = AtomicBool::new(false);
    // Carries both ways; when switched, alters what the client sends.
    let carry = async {
        loop {
            let carried = tokio::select! {
                count = near.read(&mut up) => {
                    let bytes = &mut up[..count.unwrap()];
                    if changes.load(Ordering::Relaxed) && let Some(last) = bytes.last_mut() {
                        *last ^= 1;
                    }
                    far.write_all(bytes).await.map(|()| bytes.len())
                }
                count = far.read(&mut down) => {
                    let bytes = &down[..count.unwrap()];
                    near.write_all(bytes).await.map(|()| bytes.len())
                }
            };
            if carried.ok().filter(|count| *count > 0).is_none() {
                break;
            }
        }
    };
    let client = async {
        let mut one = connector.connect(one).await.unwrap();
        one.read_exact(&mut [0; 2]).await.unwrap();
        changes.store(true, Ordering::Relaxed);
        one.write_all(b"data").await.unwrap();
        one.flush().await.unwrap();
        let error = one.read(&mut [0; 16]).await.unwrap_err();
        alerted(tls_error(&error).unwrap())
    };
    let server = async {
        let mut other = acceptor.accept(other).await.unwrap();
        other.write_all(b"go").await.unwrap();
        other.flush().await.unwrap();
        other.read(&mut [0; 16]).await.unwrap_err().kind()
    };
    let ((), told, kind) = tokio::join!(carry, client, server);
    assert_eq!(told, Alert::BadRecordMac);
    assert_eq!(kind, ErrorKind::InvalidData);
}

/// A pipe that accepts writes, and fails when switched.
struct Failing {
    pipe: DuplexStream,
    fails: Arc<AtomicBool>,
}

impl AsyncRead for Failing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Failing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.fails.swap(false, Ordering::SeqCst) {
            true => Poll::Ready(Err(ErrorKind::Interrupted.into())),
            false => Pin::new(&mut self.pipe).poll_write(cx, data),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn data_that_was_taken_is_not_reported_as_failed_and_the_next_call_is_told() {
    let (client, server) = pair();
    let connector = Connector::new(client.wants(&server), offline());
    let acceptor = Acceptor::new(server.takes(&client), offline());
    let (pipe, other) = duplex(64 * 1024);
    let fails = Arc::new(AtomicBool::new(false));
    let one = Failing {
        pipe,
        fails: Arc::clone(&fails),
    };
    let (one, other) = tokio::join!(connector.connect(one), acceptor.accept(other));
    let (mut one, mut other) = (one.unwrap(), other.unwrap());
    fails.store(true, Ordering::SeqCst);
    assert_eq!(one.write(b"once").await.unwrap(), 4);
    let told = one.flush().await.unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Interrupted);
    one.shutdown().await.unwrap();
    let mut got = Vec::new();
    other.read_to_end(&mut got).await.unwrap();
    assert_eq!(got, b"once");
}
