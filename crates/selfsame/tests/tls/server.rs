//! `selfsame tls server` while it runs: another identity without a restart.

use std::fs;

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

    // What can't be read changes nothing.
    fs::rename(at("own"), at("next")).unwrap();
    server.signal("-HUP");
    server.complains("stay as they were");
    assert_eq!(is_there(&second), Some(0));
    assert_eq!(server.stop(), Some(0));
}
