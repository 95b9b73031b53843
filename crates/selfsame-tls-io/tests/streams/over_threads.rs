//! Blocking streams, with each other and with tokio streams.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use selfsame_tls::Alert;
use selfsame_tls_io::blocking::{self, Plain, Stream};
use selfsame_tls_io::{Acceptor, Error, HandshakeSettings, Offline, tls_error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::world::{Node, Registry, alerted, assert_is, pair, refused, sockets};

fn offline() -> HandshakeSettings<Offline> {
    HandshakeSettings::new(Offline)
}

/// Two connected ends, the server's first.
fn connected() -> (Stream<TcpStream>, Stream<TcpStream>) {
    let (client, server) = pair();
    let (one, other) = sockets();
    let takes = server.takes(&client);
    let accepting = thread::spawn(move || blocking::accept(other, &takes, &offline()));
    let one = blocking::connect(one, &client.wants(&server), &offline()).unwrap();
    let other = accepting.join().unwrap().unwrap();
    assert_is(&one.peer().kind, &server);
    assert_is(&other.peer().kind, &client);
    (one, other)
}

#[test]
fn one_side_asks_and_ends_and_the_other_answers() {
    let (mut one, mut other) = connected();
    one.update_keys().unwrap();
    one.write_all(b"question").unwrap();
    one.close().unwrap();
    let mut question = String::new();
    other.read_to_string(&mut question).unwrap();
    assert_eq!(question, "question");
    other.write_all(b"answer").unwrap();
    other.close().unwrap();
    let mut answer = String::new();
    one.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "answer");
    assert_eq!(
        one.write(b"more").unwrap_err().kind(),
        ErrorKind::BrokenPipe
    );
}

#[test]
fn an_end_without_close_notify_is_a_cut() {
    let (mut one, other) = connected();
    drop(other);
    let error = one.read(&mut [0; 16]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn what_a_handshake_needs_is_asked_for_on_other_threads() {
    let client = Node::named("did:web:client.example");
    let server = Node::named("did:web:server.example");
    let registry = Registry::of(&[&client, &server], Duration::from_millis(50));
    let (one, other) = sockets();
    let (takes, settings) = (
        server.takes(&client),
        HandshakeSettings::of(Arc::clone(&registry)),
    );
    let accepting = thread::spawn(move || blocking::accept(other, &takes, &settings));
    let one = blocking::connect(
        one,
        &client.wants(&server),
        &HandshakeSettings::of(registry),
    )
    .unwrap();
    assert_is(&one.peer().kind, &server);
    assert_is(&accepting.join().unwrap().unwrap().peer().kind, &client);
}

#[test]
fn a_client_that_is_not_expected_is_told_so() {
    let (client, server) = pair();
    let (one, other) = sockets();
    let takes = server.takes(&Node::new());
    let accepting = thread::spawn(move || blocking::accept(other, &takes, &offline()).map(|_| ()));
    let mut one = blocking::connect(one, &client.wants(&server), &offline()).unwrap();
    let error = one.read(&mut [0; 16]).unwrap_err();
    assert_eq!(alerted(tls_error(&error).unwrap()), Alert::AccessDenied);
    drop(one);
    let error = accepting.join().unwrap().unwrap_err();
    assert_eq!(refused(&error), Alert::AccessDenied);
}

#[test]
fn a_peer_that_says_nothing_is_given_up() {
    let (client, server) = pair();
    let (_one, other) = sockets();
    let settings = HandshakeSettings {
        handshake: Duration::from_millis(200),
        ..offline()
    };
    let error = blocking::accept(other, &server.takes(&client), &settings).unwrap_err();
    assert!(matches!(error, Error::TimedOut), "{error}");
}

#[test]
fn threads_and_tokio_speak_with_each_other() {
    let (client, server) = pair();
    let (one, other) = sockets();
    let wants = client.wants(&server);
    // Any reader and writer can serve as the transport.
    let asking = thread::spawn(move || {
        let mut one = blocking::connect(Plain(one), &wants, &offline()).unwrap();
        one.write_all(&[9; 100_000]).unwrap();
        one.close().unwrap();
        let mut answer = Vec::new();
        one.read_to_end(&mut answer).unwrap();
        answer
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        other.set_nonblocking(true).unwrap();
        let other = tokio::net::TcpStream::from_std(other).unwrap();
        let acceptor = Acceptor::new(server.takes(&client), offline());
        let mut other = acceptor.accept(other).await.unwrap();
        let mut question = Vec::new();
        other.read_to_end(&mut question).await.unwrap();
        other.write_all(&question).await.unwrap();
        other.shutdown().await.unwrap();
    });
    assert!(asking.join().unwrap() == [9; 100_000]);
}

/// A transport that, when switched, accepts none of a write or fails to flush.
struct Late {
    stream: TcpStream,
    is_late: Arc<AtomicBool>,
    fails_to_flush: Arc<Mutex<Option<ErrorKind>>>,
    has_written: bool,
}

impl Read for Late {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.stream.read(to)
    }
}

impl Write for Late {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_late.load(Ordering::SeqCst) {
            true => Err(ErrorKind::TimedOut.into()),
            false => {
                self.has_written = true;
                self.stream.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Only a flush after a write fails.
        let fails = match std::mem::take(&mut self.has_written) {
            true => self.fails_to_flush.lock().unwrap().take(),
            false => None,
        };
        match fails {
            Some(kind) => Err(kind.into()),
            None => self.stream.flush(),
        }
    }
}

#[test]
fn data_that_was_taken_is_never_reported_as_failed_so_that_a_retry_repeats_nothing() {
    let (client, server) = pair();
    let (stream, other) = sockets();
    let takes = server.takes(&client);
    let accepting = thread::spawn(move || blocking::accept(other, &takes, &offline()));
    let is_late = Arc::new(AtomicBool::new(false));
    let late = Late {
        stream,
        is_late: Arc::clone(&is_late),
        fails_to_flush: Arc::default(),
        has_written: false,
    };
    let mut one = blocking::connect(Plain(late), &client.wants(&server), &offline()).unwrap();
    let mut other = accepting.join().unwrap().unwrap();
    is_late.store(true, Ordering::SeqCst);
    assert_eq!(one.write(b"first").unwrap(), 5);
    // Nothing of this is accepted, since the earlier data is not sent yet.
    let error = one.write(b"second").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    is_late.store(false, Ordering::SeqCst);
    assert_eq!(one.write(b"second").unwrap(), 6);
    one.flush().unwrap();
    let mut got = [0; 11];
    other.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"firstsecond");
}

#[test]
fn data_that_was_taken_is_written_once_though_the_transport_fails_to_flush_it() {
    for (kind, tells_later) in [
        (ErrorKind::Interrupted, false),
        (ErrorKind::ConnectionReset, true),
    ] {
        let (client, server) = pair();
        let (stream, other) = sockets();
        let takes = server.takes(&client);
        let accepting = thread::spawn(move || blocking::accept(other, &takes, &offline()));
        let fails = Arc::<Mutex<_>>::default();
        let late = Late {
            stream,
            is_late: Arc::default(),
            fails_to_flush: Arc::clone(&fails),
            has_written: false,
        };
        let mut one = blocking::connect(Plain(late), &client.wants(&server), &offline()).unwrap();
        let mut other = accepting.join().unwrap().unwrap();
        *fails.lock().unwrap() = Some(kind);
        // `write_all` repeats a write that was interrupted.
        one.write_all(b"once").unwrap();
        let told = one.flush();
        assert_eq!(told.is_err(), tells_later, "{told:?}");
        one.flush().unwrap();
        one.close().unwrap();
        let mut got = Vec::new();
        other.read_to_end(&mut got).unwrap();
        assert_eq!(got, b"once");
    }
}
