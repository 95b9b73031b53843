//! The traces of RFC 8448 §4 to §7, replayed: messages, secrets, binder, Finished, and the records of both sides.

use crate::codec::{ContentType, Extension, Message};
use crate::handshake::verify_finished;
use crate::profile::PAPER;
use crate::provider::{Block, Cipher};
use crate::record_layer::{Record, RecordLayer};
use crate::schedule::{Application, Early, Handshake};
use crate::testing::{Vectors, rfc8448};
use crate::transcript::{Transcript, Unhashed};
use crate::{Alert, Suite};

/// The messages of a server's flight, in order; each trace has some of them.
const FLIGHT: [&str; 5] = [
    "encrypted_extensions",
    "certificate_request",
    "certificate",
    "certificate_verify",
    "server_finished",
];
const END_OF_EARLY_DATA: &[u8] = &[5, 0, 0, 0];

fn cipher() -> Cipher {
    Cipher::new(Suite::AES_128_GCM_SHA256).unwrap()
}

fn has(vectors: &Vectors, name: &str) -> bool {
    vectors.names().any(|known| known == name)
}

/// Parses a message, and asserts that it is written back to the same bytes.
fn message(raw: &[u8]) -> Message {
    let message = Message::parse(raw, &PAPER).unwrap();
    assert_eq!(message.write(&PAPER).unwrap(), raw);
    message
}

/// All records in these bytes, except change_cipher_spec.
fn read(layer: &mut RecordLayer, bytes: &[u8]) -> Vec<Record> {
    layer.push(bytes);
    let mut cursor = layer.cursor();
    let mut records = Vec::new();
    while let Some(record) = layer.next(&mut cursor).unwrap() {
        if record.content != ContentType::ChangeCipherSpec {
            records.push(record);
        }
    }
    layer.forget(cursor);
    records
}

/// The handshake messages in these records.
fn handshake_messages(layer: &mut RecordLayer, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut joined = Vec::new();
    for record in read(layer, bytes) {
        assert_eq!(record.content, ContentType::Handshake);
        joined.extend(record.bytes);
    }
    let mut messages = Vec::new();
    while !joined.is_empty() {
        let length = u32::from_be_bytes([0, joined[1], joined[2], joined[3]]);
        let whole = 4 + usize::try_from(length).unwrap();
        messages.push(joined.drain(..whole).collect());
    }
    messages
}

/// The transcript up to the client's last hello.
fn hellos(vectors: &Vectors) -> Transcript {
    let mut transcript = Unhashed::default();
    transcript.add(vectors.get("client_hello"));
    message(vectors.get("client_hello"));
    let mut transcript = transcript.start(cipher());
    if has(vectors, "hello_retry_request") {
        let retry = vectors.get("hello_retry_request");
        let Message::ServerHello(asked) = message(retry) else {
            panic!("not a HelloRetryRequest")
        };
        assert!(asked.is_retry());
        let cookie = asked.extensions.find(|extension| match extension {
            Extension::Cookie(_) => Some(extension.clone()),
            _ => None,
        });
        let Message::ClientHello(again) = message(vectors.get("client_hello_again")) else {
            panic!("not a hello")
        };
        assert!(again.extensions.0.contains(&cookie.unwrap()));
        transcript.retry();
        transcript.add(retry);
        transcript.add(vectors.get("client_hello_again"));
    }
    transcript
}

/// The state of a replay: both sides' records, and the transcript.
struct Replay<'a> {
    vectors: &'a Vectors,
    transcript: Transcript,
    schedule: Handshake,
    client: RecordLayer,
    server: RecordLayer,
}

impl<'a> Replay<'a> {
    fn new(vectors: &'a Vectors) -> Self {
        let psk = has(vectors, "psk").then(|| Block::new(vectors.get("psk")));
        let mut transcript = hellos(vectors);
        transcript.add(vectors.get("server_hello"));
        message(vectors.get("server_hello"));
        let early = Early::new(cipher(), psk.as_ref());
        let hash = transcript.hash();
        let schedule = early
            .handshake(vectors.get("shared"), hash.as_ref())
            .unwrap();
        let (mut client, mut server) = (RecordLayer::default(), RecordLayer::default());
        client.set_read(schedule.server.clone());
        client.set_write(schedule.client.clone());
        server.set_read(schedule.client.clone());
        server.set_write(schedule.server.clone());
        Self {
            vectors,
            transcript,
            schedule,
            client,
            server,
        }
    }

    /// Asserts that the server's flight matches the trace, as messages and as a record.
    fn server_flight(&mut self) -> Application {
        let records = self.vectors.get("server_flight_records");
        let messages = handshake_messages(&mut self.client, records);
        let expected = FLIGHT.iter().filter(|name| has(self.vectors, name));
        let expected: Vec<&[u8]> = expected.map(|name| self.vectors.get(name)).collect();
        assert_eq!(messages, expected);
        let (last, before) = messages.split_last().unwrap();
        before.iter().for_each(|raw| {
            message(raw);
            self.transcript.add(raw);
        });
        verify_finished(&self.schedule.server, &self.transcript, &last[4..]).unwrap();
        self.transcript.add(last);
        let flight = messages.concat();
        self.server.send(ContentType::Handshake, &flight).unwrap();
        assert!(records.ends_with(&self.server.take_outgoing()));
        let transcript = self.transcript.hash();
        self.schedule.application(transcript.as_ref()).unwrap()
    }

    /// Asserts that the client's flight matches the trace, including its Finished.
    fn client_flight(&mut self) {
        self.client_flight_after(0);
    }

    /// Like `client_flight`, without the first `bytes` bytes.
    fn client_flight_after(&mut self, bytes: usize) {
        let (_, records) = self.vectors.get("client_flight_records").split_at(bytes);
        let messages = handshake_messages(&mut self.server, records);
        let (last, before) = messages.split_last().unwrap();
        before.iter().for_each(|raw| {
            message(raw);
            self.transcript.add(raw);
        });
        verify_finished(&self.schedule.client, &self.transcript, &last[4..]).unwrap();
        let flight = messages.concat();
        self.client.send(ContentType::Handshake, &flight).unwrap();
        assert!(records.ends_with(&self.client.take_outgoing()));
        self.transcript.add(last);
    }

    /// Replays data, if there is any, and both alerts under the application keys.
    fn application(mut self, keys: Application) {
        self.client.set_read(keys.server.clone());
        self.client.set_write(keys.client.clone());
        self.server.set_read(keys.client);
        self.server.set_write(keys.server);
        let (data, close) = (ContentType::ApplicationData, &[1, 0][..]);
        let mut sent = vec![(ContentType::Alert, close, "alert")];
        if has(self.vectors, "application_data") {
            sent.insert(0, (data, self.vectors.get("application_data"), "data"));
        }
        for (content, bytes, name) in sent {
            let (client, server) = (&mut self.client, &mut self.server);
            for (side, from, to) in [("client", 0, 1), ("server", 1, 0)] {
                let ends = [&mut *client, &mut *server];
                ends[from].send(content, bytes).unwrap();
                let record = ends[from].take_outgoing();
                assert_eq!(record, self.vectors.get(&format!("{side}_{name}_record")));
                let read = read(ends[to], &record).pop().unwrap();
                assert_eq!((read.content, read.bytes.as_slice()), (content, bytes));
            }
        }
    }
}

#[test]
fn a_handshake_after_hello_retry_request_is_replayed() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/rfc8448-hello-retry.txt"
    ));
    let mut replay = Replay::new(&vectors);
    let keys = replay.server_flight();
    replay.client_flight();
    replay.application(keys);
}

#[test]
fn a_handshake_with_client_authentication_is_replayed() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/rfc8448-client-auth.txt"
    ));
    let mut replay = Replay::new(&vectors);
    let keys = replay.server_flight();
    let records = vectors.get("client_flight_records").to_vec();
    replay.client_flight();
    replay.application(keys);
    // The client's flight is a certificate, its proof, and Finished.
    let mut server = Replay::new(&vectors).server;
    let messages = handshake_messages(&mut server, &records);
    assert_eq!(
        messages.iter().map(|raw| raw[0]).collect::<Vec<_>>(),
        [11, 15, 20]
    );
}

#[test]
fn a_handshake_in_compatibility_mode_is_replayed() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/rfc8448-compatibility.txt"
    ));
    let Message::ClientHello(hello) = message(vectors.get("client_hello")) else {
        panic!("not a hello")
    };
    let Message::ServerHello(answer) = message(vectors.get("server_hello")) else {
        panic!("not an answer")
    };
    assert_eq!(
        (hello.session_id.len(), &hello.session_id),
        (32, &answer.session_id)
    );
    for flight in ["server_flight_records", "client_flight_records"] {
        assert!(vectors.get(flight).starts_with(&[20, 3, 3, 0, 1, 1]));
    }
    let mut replay = Replay::new(&vectors);
    let keys = replay.server_flight();
    replay.client_flight();
    replay.application(keys);
}

#[test]
fn a_resumption_is_replayed_with_its_binder_and_its_early_data_taken_or_skipped() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/rfc8448-resumed-0rtt.txt"
    ));
    let raw = vectors.get("client_hello");
    let Message::ClientHello(hello) = message(raw) else {
        panic!("not a hello")
    };
    let offered = hello.extensions.pre_shared_keys().unwrap();
    let (bound, _) = raw.split_at(raw.len() - offered.binders_len());
    let early = Early::new(cipher(), Some(&Block::new(vectors.get("psk"))));
    let binder = early.binder(cipher().hash(bound).as_ref()).unwrap();
    assert_eq!(offered.binders, [binder]);

    // Early data has another key than the handshake: a server that refuses it skips it, including its end.
    let mut replay = Replay::new(&vectors);
    let keys = replay.server_flight();
    replay.server.skip_early(100);
    let skipped = read(&mut replay.server, vectors.get("early_data_record"));
    assert!(skipped.is_empty());
    replay.transcript.add(END_OF_EARLY_DATA);
    replay.client_flight();
    replay.application(keys);

    // A server that accepts it reads it, and switches keys after its end.
    let traffic = early.traffic(cipher().hash(raw).as_ref()).unwrap();
    assert_eq!(traffic.secret(), vectors.get("early_traffic_secret"));
    let mut replay = Replay::new(&vectors);
    let keys = replay.server_flight();
    let Message::EncryptedExtensions(extensions) = message(vectors.get("encrypted_extensions"))
    else {
        panic!("no extensions")
    };
    assert!(hello.extensions.has_early_data() && extensions.has_early_data());
    let (client, server) = (&mut replay.client, &mut replay.server);
    client.set_write(traffic.clone());
    server.set_read(traffic);
    let (first, _) = vectors.get("client_flight_records").split_at(5 + 0x15);
    for (content, bytes, sent) in [
        (
            ContentType::ApplicationData,
            vectors.get("early_data"),
            vectors.get("early_data_record"),
        ),
        (ContentType::Handshake, END_OF_EARLY_DATA, first),
    ] {
        client.send(content, bytes).unwrap();
        assert_eq!(client.take_outgoing(), sent);
        let got = read(server, sent).pop().unwrap();
        assert_eq!((got.content, got.bytes.as_slice()), (content, bytes));
    }
    assert_eq!(message(END_OF_EARLY_DATA), Message::EndOfEarlyData);
    replay.transcript.add(END_OF_EARLY_DATA);
    replay.client.set_write(replay.schedule.client.clone());
    replay.server.set_read(replay.schedule.client.clone());
    replay.client_flight_after(5 + 0x15);
    replay.application(keys);
}

#[test]
fn the_ticket_of_the_first_trace_is_the_one_the_second_resumes() {
    let (first, second) = (
        rfc8448(),
        Vectors::parse(include_str!(
            "../../../../vectors/tls/rfc8448-resumed-0rtt.txt"
        )),
    );
    let mut transcript = Unhashed::default();
    for name in [
        "client_hello",
        "server_hello",
        "encrypted_extensions",
        "certificate",
        "certificate_verify",
        "server_finished",
        "client_finished",
    ] {
        transcript.add(first.get(name));
    }
    let whole = transcript.start(cipher()).hash();
    let hash = |names: &[&str]| {
        let mut transcript = Unhashed::default();
        names
            .iter()
            .for_each(|name| transcript.add(first.get(name)));
        transcript.start(cipher()).hash().as_ref().to_vec()
    };
    let schedule = Early::new(cipher(), None)
        .handshake(
            first.get("shared"),
            &hash(&["client_hello", "server_hello"]),
        )
        .unwrap();
    let application = schedule
        .application(&hash(&[
            "client_hello",
            "server_hello",
            "encrypted_extensions",
            "certificate",
            "certificate_verify",
            "server_finished",
        ]))
        .unwrap();
    let mut client = RecordLayer::default();
    client.set_read(application.server);
    let record = read(&mut client, first.get("server_ticket_record")).remove(0);
    let Message::NewSessionTicket(ticket) = message(&record.bytes) else {
        panic!("not a ticket")
    };
    let resumption = application.master.resumption(whole.as_ref()).unwrap();
    let secret = resumption.secret(&ticket.nonce).unwrap();
    assert_eq!(secret.as_ref(), second.get("psk"));
    let Message::ClientHello(hello) = message(second.get("client_hello")) else {
        panic!("not a hello")
    };
    let offered = hello.extensions.pre_shared_keys().unwrap();
    assert_eq!(offered.identities[0].ticket, ticket.ticket);
}

#[test]
fn a_changed_byte_of_a_trace_is_seen() {
    // Shows that the replay can fail: with one bit of the server's flight changed, its record does not decrypt.
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/rfc8448-hello-retry.txt"
    ));
    let mut replay = Replay::new(&vectors);
    let mut records = vectors.get("server_flight_records").to_vec();
    *records.last_mut().unwrap() ^= 1;
    replay.client.push(&records);
    let mut cursor = replay.client.cursor();
    let refused = replay.client.next(&mut cursor).unwrap_err();
    assert_eq!(refused.alert, Alert::BadRecordMac);
}
