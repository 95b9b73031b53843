//! What is told to who asks wrongly: what it is, and what to do.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::rig::{run, selfsame};

fn tls(arguments: &[&str]) -> Command {
    let mut command = selfsame();
    command.arg("tls").args(arguments);
    command
}

/// A node whose DID is its key, so that no instance is needed.
fn node(folder: &Path) -> String {
    let mut command = tls(&["identity", "new", "--json", "--identity"]);
    let (code, printed, complaints) = run(command.arg(folder));
    assert_eq!(code, 0, "{complaints}");
    let made: serde_json::Value = serde_json::from_str(&printed).unwrap();
    made["did"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_told(command: &mut Command, words: &[&str]) {
    let (code, printed, complaints) = run(command);
    assert_eq!(code, 2, "{command:?}: {printed}{complaints}");
    assert!(complaints.contains("hint: "), "{command:?}: {complaints}");
    for word in words {
        assert!(complaints.contains(word), "{command:?}: {complaints}");
    }
}

#[test]
fn without_a_policy_nobody_is_let_in_and_nothing_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    node(&identity);
    let identity = identity.to_str().unwrap();
    let ways: [&[&str]; 3] = [
        &["server", "--listen", "127.0.0.1:0"],
        &["client", "127.0.0.1:1"],
        &["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"],
    ];
    for way in ways {
        assert_told(
            tls(way).args(["--identity", identity]),
            &["nobody is trusted", "--trust-issuer"],
        );
        let mut vague = tls(way);
        vague.args([
            "--identity",
            identity,
            "--trust-issuer",
            "did:web:issuer.example",
        ]);
        assert_told(&mut vague, &["who is expected"]);
    }
    let mut anybody = tls(&["client", "127.0.0.1:1", "--expect-anybody"]);
    anybody.args(["--trust-issuer", "did:web:issuer.example"]);
    assert_told(&mut anybody, &["every holder", "--expect-claim"]);
}

#[test]
fn an_identity_that_is_not_there_or_can_t_be_opened_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let mut absent = tls(&["identity", "show", "--identity"]);
    assert_told(absent.arg(&identity), &["no identity here", "identity new"]);
    let did = node(&identity);
    let again = tls(&["identity", "new", "--identity"])
        .arg(&identity)
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
    std::fs::write(identity.join("master-key"), "no key").unwrap();
    let mut broken = tls(&["server", "--listen", "127.0.0.1:0", "--trust-did", &did]);
    assert_told(
        broken.arg("--identity").arg(&identity),
        &["this is no master key"],
    );
    std::fs::write(identity.join("master-key"), "00".repeat(32)).unwrap();
    let mut foreign = tls(&["server", "--listen", "127.0.0.1:0", "--trust-did", &did]);
    let (code, _, complaints) = run(foreign.arg("--identity").arg(&identity));
    assert_eq!(code, 2, "{complaints}");
    assert!(!complaints.contains("listening"), "{complaints}");
}

#[test]
fn a_port_that_is_taken_and_a_server_that_is_not_there_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let did = node(&identity);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut server = tls(&["server", "--listen", &address, "--trust-did", &did]);
    assert_told(
        server.arg("--identity").arg(&identity),
        &[&address, "--listen"],
    );
    drop(taken);
    let mut client = tls(&["client", &address, "--trust-did", &did]);
    assert_told(&mut client, &[&address, "listening there"]);
}

#[test]
fn what_a_node_keeps_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let did = node(&identity);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&identity), 0o700);
    assert_eq!(mode(&identity.join("master-key")), 0o600);
    let mut show = tls(&["identity", "show", "--identity"]);
    let (code, printed, complaints) = run(show.arg(&identity));
    assert_eq!(code, 0, "{complaints}");
    assert!(
        printed.contains(&did) && printed.contains("no credential yet"),
        "{printed}"
    );
    // A did:key is its key.
    let mut update = tls(&["identity", "update", "--identity"]);
    assert_told(update.arg(&identity), &["did:key"]);
}
