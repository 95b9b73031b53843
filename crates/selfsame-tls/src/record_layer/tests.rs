//! Records compared with RFC 8448 §3, and which records are refused.

use super::*;
use crate::alert::Alert;
use crate::named::Suite;
use crate::provider::Cipher;
use crate::schedule::{Early, Handshake};
use crate::testing::{Vectors, rfc8448};
use crate::transcript::Unhashed;

const FLIGHT: [&str; 4] = [
    "encrypted_extensions",
    "certificate",
    "certificate_verify",
    "server_finished",
];

fn cipher() -> Cipher {
    Cipher::new(Suite::AES_128_GCM_SHA256).unwrap()
}

fn hash(vectors: &Vectors, names: &[&str]) -> Vec<u8> {
    let mut messages = Unhashed::default();
    names
        .iter()
        .for_each(|name| messages.add(vectors.get(name)));
    messages.start(cipher()).hash().as_ref().to_vec()
}

fn handshake(vectors: &Vectors) -> Handshake {
    let transcript = hash(vectors, &["client_hello", "server_hello"]);
    Early::new(cipher(), None)
        .handshake(vectors.get("shared"), &transcript)
        .unwrap()
}

fn read(layer: &mut RecordLayer, bytes: &[u8]) -> Result<Option<Record>, Refusal> {
    layer.push(bytes);
    let mut cursor = layer.cursor();
    let record = layer.next(&mut cursor)?;
    layer.forget(cursor);
    Ok(record)
}

#[test]
fn the_trace_is_replayed_byte_for_byte_in_both_roles() {
    let vectors = rfc8448();
    let handshake = handshake(&vectors);
    let (mut client, mut server) = (RecordLayer::default(), RecordLayer::default());
    client.set_read(handshake.server.clone());
    client.set_write(handshake.client.clone());
    server.set_read(handshake.client.clone());
    server.set_write(handshake.server.clone());

    let flight: Vec<u8> = FLIGHT
        .iter()
        .flat_map(|name| vectors.get(name))
        .copied()
        .collect();
    server.send(ContentType::Handshake, &flight).unwrap();
    let sent = server.take_outgoing();
    assert_eq!(sent, vectors.get("server_flight_record"));
    let record = read(&mut client, &sent).unwrap().unwrap();
    assert_eq!(
        (record.content, record.bytes),
        (ContentType::Handshake, flight)
    );

    client
        .send(ContentType::Handshake, vectors.get("client_finished"))
        .unwrap();
    let sent = client.take_outgoing();
    assert_eq!(sent, vectors.get("client_finished_record"));
    assert_eq!(
        read(&mut server, &sent).unwrap().unwrap().bytes,
        vectors.get("client_finished")
    );

    let names = [&["client_hello", "server_hello"][..], &FLIGHT].concat();
    let application = handshake.application(&hash(&vectors, &names)).unwrap();
    client.set_read(application.server.clone());
    client.set_write(application.client.clone());
    server.set_read(application.client);
    server.set_write(application.server);
    let ticket = read(&mut client, vectors.get("server_ticket_record"))
        .unwrap()
        .unwrap();
    assert_eq!(
        (ticket.content, ticket.bytes[0]),
        (ContentType::Handshake, 4)
    );
    server.send(ContentType::Handshake, &ticket.bytes).unwrap();
    assert_eq!(server.take_outgoing(), vectors.get("server_ticket_record"));

    let data = vectors.get("application_data");
    for (content, bytes, name) in [
        (ContentType::ApplicationData, data, "data"),
        (ContentType::Alert, &[1, 0], "alert"),
    ] {
        client.send(content, bytes).unwrap();
        assert_eq!(
            client.take_outgoing(),
            vectors.get(&format!("client_{name}_record"))
        );
        server.send(content, bytes).unwrap();
        let sent = server.take_outgoing();
        assert_eq!(sent, vectors.get(&format!("server_{name}_record")));
        assert_eq!(read(&mut client, &sent).unwrap().unwrap().bytes, bytes);
    }
}

#[test]
fn a_record_arrives_in_any_pieces() {
    let mut layer = RecordLayer::default();
    let bytes = [22, 3, 1, 0, 3, b'a', b'b', b'c', 22, 3, 3, 0, 1, b'd'];
    let mut got = Vec::new();
    for byte in bytes {
        got.extend(
            read(&mut layer, &[byte])
                .unwrap()
                .map(|record| record.bytes),
        );
    }
    assert_eq!(got, [b"abc".to_vec(), b"d".to_vec()]);
    assert_eq!(layer.waiting(), 0);
}

#[test]
fn every_bit_of_a_protected_record_counts() {
    let vectors = rfc8448();
    let record = vectors.get("client_finished_record");
    for bit in 0..record.len() * 8 {
        let mut changed = record.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        let mut layer = RecordLayer::default();
        layer.set_read(handshake(&vectors).client);
        // The ignored part of the version may change; a longer record is waited for; every other change is refused.
        match read(&mut layer, &changed) {
            Ok(None) => assert!((24..40).contains(&bit)),
            Ok(Some(_)) => assert!((16..24).contains(&bit), "bit {bit} was not seen"),
            Err(refusal) => assert_ne!(refusal.alert, Alert::InternalError),
        }
    }
}

#[test]
fn records_that_are_not_allowed_get_their_alerts() {
    let alert = |bytes: &[u8], is_keyed: bool| {
        let mut layer = RecordLayer::default();
        if is_keyed {
            layer.set_read(handshake(&rfc8448()).client);
        }
        read(&mut layer, bytes).map(|_| ()).unwrap_err().alert
    };
    assert_eq!(alert(&[99, 3, 3, 0, 0], false), Alert::UnexpectedMessage);
    assert_eq!(alert(b"GET / HTTP", false), Alert::UnexpectedMessage);
    assert_eq!(alert(&[22, 2, 0, 0, 1, 0], false), Alert::ProtocolVersion);
    assert_eq!(alert(&[22, 3, 3, 0x40, 1], false), Alert::RecordOverflow);
    assert_eq!(alert(&[23, 3, 3, 0x41, 1], true), Alert::RecordOverflow);
    assert_eq!(alert(&[22, 3, 3, 0, 0], false), Alert::UnexpectedMessage);
    assert_eq!(alert(&[21, 3, 3, 0, 0], false), Alert::UnexpectedMessage);
    assert_eq!(alert(&[20, 3, 3, 0, 1, 2], false), Alert::UnexpectedMessage);
    assert_eq!(alert(&[23, 3, 3, 0, 1, 0], false), Alert::UnexpectedMessage);
    assert_eq!(
        alert(&[21, 3, 3, 0, 2, 1, 0], true),
        Alert::UnexpectedMessage
    );
    assert_eq!(alert(&[23, 3, 3, 0, 1, 0], true), Alert::BadRecordMac);
}

#[test]
fn a_key_is_given_up_before_its_numbers_wrap_or_it_is_worn() {
    let vectors = rfc8448();
    let (mut client, mut server) = (RecordLayer::default(), RecordLayer::default());
    client.set_write(handshake(&vectors).client);
    server.set_read(handshake(&vectors).client);
    let limit = cipher().limit();
    assert!(!client.is_worn());
    client.write.as_mut().unwrap().sequence = limit - 1024;
    assert!(client.is_worn());

    let last = |layer: &mut RecordLayer| layer.send(ContentType::ApplicationData, b"x");
    client.write.as_mut().unwrap().sequence = u64::MAX - 1;
    server.read.as_mut().unwrap().sequence = u64::MAX - 1;
    last(&mut client).unwrap();
    let record = client.take_outgoing();
    assert_eq!(read(&mut server, &record).unwrap().unwrap().bytes, b"x");
    // No sequence number is used twice, neither for sending nor for reading.
    assert_eq!(last(&mut client).unwrap_err().alert, Alert::InternalError);
    assert!(client.take_outgoing().is_empty());
    let again = read(&mut server, &record).map(|_| ()).unwrap_err();
    assert!([Alert::InternalError, Alert::BadRecordMac].contains(&again.alert));
}

#[test]
fn padded_records_are_multiples_of_the_block_and_say_the_same() {
    let vectors = rfc8448();
    let traffic = handshake(&vectors).client;
    let (header, tag) = (5, 16);
    for block in [0_u16, 1, 2, 64, 100, 512, 16_384, u16::MAX] {
        let (mut one, mut other) = (RecordLayer::default(), RecordLayer::default());
        one.pad_to(block);
        one.set_write(traffic.clone());
        other.set_read(traffic.clone());
        for length in [1, 2, 63, 64, 99, 100, 511, 513, 16_383, 16_384] {
            let content = match length {
                2 => ContentType::Alert,
                63 => ContentType::Handshake,
                _ => ContentType::ApplicationData,
            };
            // The content ends with zeros of its own, which are not removed as padding.
            let mut bytes = vec![7; length];
            *bytes.last_mut().unwrap() = 0;
            one.send(content, &bytes).unwrap();
            let sent = one.take_outgoing();
            let inner = sent.len() - header - tag;
            let full = inner == 16_385;
            let is_padded = match block {
                0 | 1 => inner == length + 1,
                block => inner % usize::from(block) == 0 || full,
            };
            assert!(is_padded, "{length} bytes in blocks of {block}: {inner}");
            assert!(inner > length && inner - length <= usize::from(block).max(1));
            let got = read(&mut other, &sent).unwrap().unwrap();
            assert_eq!((got.content, got.bytes), (content, bytes));
        }
    }
}

#[test]
fn a_full_record_of_early_data_is_skipped_whatever_protects_it_and_empty_ones_come_to_an_end() {
    let secret = crate::provider::Block::new(&[9; 32]);
    let secrets = Early::new(cipher(), Some(&secret));
    let record = |content: &[u8]| {
        let mut client = RecordLayer::default();
        client.set_write(secrets.traffic(b"another hello").unwrap());
        client.send(ContentType::ApplicationData, content).unwrap();
        client.take_outgoing()
    };
    // The maximum plaintext of a ticket for 16 KiB, in one record.
    let mut server = RecordLayer::default();
    server.skip_early(16 * 1024);
    assert!(
        read(&mut server, &record(&[7; 16 * 1024]))
            .unwrap()
            .is_none()
    );
    let one_more = read(&mut server, &record(&[7])).unwrap_err();
    assert_eq!(one_more.alert, Alert::UnexpectedMessage);

    let mut server = RecordLayer::default();
    server.skip_early(17 * 100);
    let empty = record(&[7]);
    for _ in 0..100 {
        assert!(read(&mut server, &empty).unwrap().is_none());
    }
    assert!(read(&mut server, &empty).is_err());
}
