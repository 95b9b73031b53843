//! `selfsame tls server` while it runs: another identity without a restart.

use std::fs;
use std::process::Stdio;

use crate::node::{Listening, keyed};
use crate::rig::selfsame;

#[test]
fn a_server_takes_another_identity_without_being_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (first, second, guest) = (keyed(&at("own")), keyed(&at("next")), keyed(&at("guest")));
    let mut server = selfsame();
    server.args(["tls", "server", "--json", "--listen", "127.0.0.1:0"]);
    server.args(["--trust-did", &guest, "--identity"]);
    let server = Listening::start(server.arg(at("own")));
    let is_there = |did: &str| {
        let mut client = selfsame();
        client.args(["tls", "client", &server.address.to_string(), "--json"]);
        client.args(["--trust-did", did, "--identity"]);
        let ended = client.arg(at("guest")).output().unwrap();
        ended.status.code()
    };
    assert_eq!((is_there(&first), is_there(&second)), (Some(0), Some(1)));

    fs::rename(at("own"), at("before")).unwrap();
    fs::rename(at("next"), at("own")).unwrap();
    server.signal("-HUP");
    server.complains("were read again");
    assert_eq!((is_there(&first), is_there(&second)), (Some(1), Some(0)));

    // Files that can't be read change nothing.
    fs::rename(at("own"), at("next")).unwrap();
    server.signal("-HUP");
    server.complains("stay unchanged");
    assert_eq!(is_there(&second), Some(0));
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_serves_the_next_client_while_one_goes_on_talking() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (own, guest) = (keyed(&at("own")), keyed(&at("guest")));
    let mut server = selfsame();
    server.args(["tls", "server", "--json", "--listen", "127.0.0.1:0"]);
    server.args(["--trust-did", &guest, "--identity"]);
    let server = Listening::start(server.arg(at("own")));
    let client = || {
        let mut client = selfsame();
        client.args(["tls", "client", &server.address.to_string()]);
        client.args(["--trust-did", &own, "--identity"]);
        client.arg(at("guest"));
        client
    };
    let mut first = client().stdin(Stdio::piped()).spawn().unwrap();
    assert_eq!(server.tells()["accepted"], true);
    let second = client().arg("--json").output().unwrap();
    assert_eq!(second.status.code(), Some(0));
    // The first connection is still open.
    assert_eq!(first.try_wait().unwrap(), None);
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
}
