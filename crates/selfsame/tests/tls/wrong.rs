//! Error messages for wrong usage: what is wrong, and what to do.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::instance::free_port;
use crate::node::{Listening, keyed};
use crate::rig::{run, selfsame};

fn tls(arguments: &[&str]) -> Command {
    let mut command = selfsame();
    command.arg("tls").args(arguments);
    command
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
fn without_a_policy_no_peer_is_let_in_and_nothing_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    keyed(&identity);
    let identity = identity.to_str().unwrap();
    let ways: [&[&str]; 3] = [
        &["server", "--listen", "127.0.0.1:0"],
        &["client", "127.0.0.1:1"],
        &["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"],
    ];
    for way in ways {
        assert_told(
            tls(way).args(["--identity", identity]),
            &["no issuer, DID or authority is trusted", "--trust-issuer"],
        );
        let mut vague = tls(way);
        vague.args([
            "--identity",
            identity,
            "--trust-issuer",
            "did:web:issuer.example",
        ]);
        assert_told(&mut vague, &["no expected peer"]);
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
    assert_told(
        absent.arg(&identity),
        &["contains no identity", "identity new"],
    );
    let did = keyed(&identity);
    let again = tls(&["identity", "new", "--identity"])
        .arg(&identity)
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
    std::fs::write(identity.join("master-key"), "no key").unwrap();
    let mut broken = tls(&["server", "--listen", "127.0.0.1:0", "--trust-did", &did]);
    assert_told(
        broken.arg("--identity").arg(&identity),
        &["not a valid master key"],
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
    let did = keyed(&identity);
    let taken = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
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
fn what_is_written_wrongly_is_told_with_how_it_is_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let did = keyed(&identity);
    let identity = identity.to_str().unwrap();
    let no_pem = folder.path().join("no.pem");
    std::fs::write(&no_pem, "nothing").unwrap();
    let no_pem = no_pem.to_str().unwrap();
    let trusted = ["--trust-did", &did];
    let client = |more: &[&str]| {
        let mut client = tls(&["client", "127.0.0.1:1"]);
        client.args(more);
        client
    };
    assert_told(
        &mut client(&["--trust-did", "hello"]),
        &["hello is not a DID", "did:"],
    );
    let by_certificate = ["--server-name", "a.example", "--trust-certificates"];
    let mut none = client(&by_certificate);
    assert_told(
        none.arg(no_pem),
        &["the file contains no certificate", "PEM"],
    );
    let mut absent = client(&by_certificate);
    assert_told(absent.arg("/nonexistent.pem"), &["/nonexistent.pem", "PEM"]);
    let mut proxy = tls(&["proxy", "--identity", identity]);
    assert_told(proxy.args(trusted), &["--listen with --to"]);
    for wrong in ["broker.example.org", ":7443", "broker.example.org:x"] {
        let (code, _, complaints) = run(tls(&["client", wrong]).args(trusted));
        assert_eq!(code, 2, "{complaints}");
        assert!(complaints.contains("HOST:PORT"), "{complaints}");
    }
    let mut registered = tls(&["identity", "new", "--method", "selfsame", "--identity"]);
    let new = folder.path().join("new");
    assert_told(
        registered.arg(&new),
        &["no registry", "--registry-token-file FILE"],
    );
}

#[test]
fn who_is_refused_is_told_what_to_do_about_it() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["server", "client", "other"].map(|name| folder.path().join(name));
    let [server, client, other] = &paths;
    let [of_server, of_client, of_other] = [server, client, other].map(|path| keyed(path));
    let listening = |trusted: &str| {
        let mut command = tls(&["server", "--listen", "127.0.0.1:0", "--json"]);
        command
            .args(["--trust-did", trusted, "--identity"])
            .arg(server);
        Listening::start(&mut command)
    };
    let refused = |listening: &Listening, expected: &str, shown: Option<&Path>| {
        let mut command = tls(&["client", &listening.address.to_string(), "--json"]);
        command.args(["--trust-did", expected]);
        if let Some(shown) = shown {
            command.arg("--identity").arg(shown);
        }
        let (code, printed, complaints) = run(&mut command);
        assert_eq!(code, 1, "{printed}{complaints}");
        let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
        crate::rig::text(&report, "hint")
    };
    let one = listening(&of_client);
    assert!(refused(&one, &of_other, Some(client)).contains("--trust-did"));
    assert!(refused(&one, &of_server, Some(other)).contains("does not expect this node"));
    assert!(refused(&one, &of_server, None).contains("--identity"));
    // The service there does not speak TLS.
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in plain.incoming().map_while(Result::ok) {
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let mut command = tls(&["client", &address.to_string(), "--trust-did", &of_server]);
    let (code, printed, _) = run(&mut command);
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("hint: the server may not speak TLS 1.3"),
        "{printed}"
    );
}

#[test]
fn what_a_node_keeps_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let did = keyed(&identity);
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
    // A did:key is derived from its key, so it can't change.
    let mut update = tls(&["identity", "update", "--identity"]);
    assert_told(update.arg(&identity), &["did:key"]);
}

#[test]
fn a_peer_that_could_never_be_let_in_is_refused_at_the_start() {
    let ways: [&[&str]; 2] = [
        &[
            "--trust-did",
            "did:ethr:0xb9c5714089478a327f09197987f16f9e5d936e8a",
        ],
        &[
            "--trust-issuer",
            "did:web:issuer.example",
            "--expect-did",
            "did:iota:0xe4edef97da1257e83cbeb49159cfdd2da6ac971ac447f233f8439cf29376ebfe",
        ],
    ];
    for way in ways {
        let mut client = tls(&["client", "127.0.0.1:1"]);
        assert_told(
            client.args(way),
            &["no peer can authenticate as", "did:web"],
        );
    }
    let mut named = tls(&["client", "127.0.0.1:1", "--sni", "127.0.0.1:1"]);
    assert_told(
        named.args(["--trust-did", "did:web:node.example"]),
        &["is not a host name"],
    );
}

#[test]
fn a_plain_side_that_others_can_reach_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let did = keyed(&identity);
    let mut proxy = tls(&["proxy", "--listen-plain", "0.0.0.0:0"]);
    proxy.args([
        "--connect",
        "127.0.0.1:9",
        "--trust-did",
        &did,
        "--identity",
    ]);
    let proxy = Listening::start(proxy.arg(&identity));
    let warned = proxy
        .said
        .iter()
        .any(|line| line.contains("not on loopback"));
    assert!(warned, "{:?}", proxy.said);
}

#[test]
fn nodes_known_by_bare_dids_speak_the_papers_profile_and_the_authors_is_of_the_library_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (near, far) = (folder.path().join("near"), folder.path().join("far"));
    let (client, server) = (keyed(&near), keyed(&far));
    let mut listening = tls(&["server", "--once", "--listen", "127.0.0.1:0"]);
    listening.args(["--profile", "paper", "--trust-did", &client]);
    let listening = Listening::start(listening.arg("--identity").arg(&far));
    let to = listening.address.to_string();
    let mut called = tls(&["client", &to, "--json", "--profile", "paper"]);
    called.args(["--trust-did", &server]);
    let (code, printed, complaints) = run(called.arg("--identity").arg(&near));
    assert_eq!(code, 0, "{printed}{complaints}");
    assert!(printed.contains(&server), "{printed}");

    let mut links = tls(&["client", &to, "--profile", "links", "--trust-did", &server]);
    let (code, _, complaints) = run(&mut links);
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("selfsame, paper"), "{complaints}");
}
