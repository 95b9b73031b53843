//! The key schedule against RFC 8448 §3.

use crate::named::Suite;
use crate::provider::Cipher;
use crate::schedule::Early;
use crate::testing::{Vectors, rfc8448};
use crate::transcript::Unhashed;

const HELLOS: [&str; 2] = ["client_hello", "server_hello"];
const FLIGHT: [&str; 4] = [
    "encrypted_extensions",
    "certificate",
    "certificate_verify",
    "server_finished",
];

fn hash(vectors: &Vectors, names: &[&str]) -> Vec<u8> {
    let mut messages = Unhashed::default();
    names
        .iter()
        .for_each(|name| messages.add(vectors.get(name)));
    let transcript = messages.start(cipher());
    transcript.hash().as_ref().to_vec()
}

fn cipher() -> Cipher {
    Cipher::new(Suite::AES_128_GCM_SHA256).unwrap()
}

#[test]
fn every_secret_of_the_trace_comes_out() {
    let vectors = rfc8448();
    let transcript = hash(&vectors, &HELLOS);
    let handshake = Early::new(cipher(), None)
        .handshake(vectors.get("shared"), &transcript)
        .unwrap();
    assert_eq!(
        handshake.client.secret(),
        vectors.get("client_handshake_traffic")
    );
    assert_eq!(
        handshake.server.secret(),
        vectors.get("server_handshake_traffic")
    );

    let all = [&HELLOS[..], &FLIGHT].concat();
    let to_verify = hash(&vectors, all.split_last().unwrap().1);
    let mac = handshake.server.finished(&to_verify).unwrap();
    assert_eq!(mac, vectors.get("server_finished")[4..]);

    let transcript = hash(&vectors, &all);
    let mac = handshake.client.finished(&transcript).unwrap();
    assert_eq!(mac, vectors.get("client_finished")[4..]);
    let application = handshake.application(&transcript).unwrap();
    assert_eq!(
        application.client.secret(),
        vectors.get("client_application_traffic")
    );
    assert_eq!(
        application.server.secret(),
        vectors.get("server_application_traffic")
    );
}

#[test]
fn a_key_update_gives_other_secrets_each_time() {
    let handshake = Early::new(cipher(), None)
        .handshake(&[1; 32], &[2; 32])
        .unwrap();
    let (first, second) = (&handshake.client, handshake.client.next().unwrap());
    assert_ne!(first.secret(), second.secret());
    assert_ne!(second.secret(), second.next().unwrap().secret());
}

#[test]
fn exported_key_material_depends_on_label_and_context_and_has_a_limit() {
    let handshake = Early::new(cipher(), None)
        .handshake(&[1; 32], &[2; 32])
        .unwrap();
    let exporter = handshake.application(&[3; 32]).unwrap().exporter;
    let export = |label, context| {
        let mut output = [0; 40];
        exporter.export(label, context, &mut output).unwrap();
        output
    };
    assert_eq!(export("one", b""), export("one", b""));
    assert_ne!(export("one", b""), export("two", b""));
    assert_ne!(export("one", b""), export("one", b"x"));
    assert!(exporter.export(&"l".repeat(250), b"", &mut [0; 8]).is_err());
    assert!(
        exporter
            .export("one", b"", &mut vec![0; 32 * 255 + 1])
            .is_err()
    );
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let handshake = Early::new(cipher(), None)
        .handshake(&[1; 32], &[2; 32])
        .unwrap();
    let shown = format!("{handshake:?} {:?}", handshake.client);
    assert_eq!(shown, "Handshake(secret) Traffic(secret)");
}
