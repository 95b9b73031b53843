//! An instance that listens for nodes beside everybody else.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

use crate::instance::free_port;
use crate::rig::{World, run, selfsame};

/// A node whose DID is its key; its DID.
fn node(folder: &Path) -> String {
    let mut command = selfsame();
    command.args(["tls", "identity", "new", "--json", "--identity"]);
    let (code, printed, complaints) = run(command.arg(folder));
    assert_eq!(code, 0, "{complaints}");
    let made: serde_json::Value = serde_json::from_str(&printed).unwrap();
    made["did"].as_str().unwrap().to_owned()
}

#[test]
fn an_instance_serves_nodes_it_trusts_and_no_others() {
    let port = free_port();
    let mut known = (String::new(), String::new());
    let world = World::prepared(&[], |folder, _| {
        known = (node(&folder.join("own")), node(&folder.join("client")));
        node(&folder.join("stranger"));
        format!(
            "[tls]\nlisten = \"127.0.0.1:{port}\"\nidentity = \"own\"\n[tls.clients]\ntrust_did = [\"{}\"]\n",
            known.1
        )
    });
    let client = |folder: &str| {
        let mut command = selfsame();
        command
            .args(["tls", "client", &format!("127.0.0.1:{port}")])
            .args(["--trust-did", &known.0, "--identity"])
            .arg(world.file(folder));
        command
    };
    let (code, printed, _) = run(client("stranger").arg("--json"));
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("access_denied"), "{printed}");

    let mut talking = client("client")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let authority = &world.instance.origin[url::Position::BeforeHost..url::Position::AfterPort];
    let mut to = talking.stdin.take().unwrap();
    write!(to, "GET /readyz HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
    to.flush().unwrap();
    let mut from = talking.stdout.take().unwrap();
    let mut answer = Vec::new();
    let mut chunk = [0; 1024];
    while !answer.starts_with(b"HTTP/1.1 200 OK\r\n") {
        let count = from.read(&mut chunk).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&chunk[..count]);
    }
    drop(to);
    assert_eq!(talking.wait().unwrap().code(), Some(0));
    let mut verdict = String::new();
    let mut told = talking.stderr.take().unwrap();
    told.read_to_string(&mut verdict).unwrap();
    assert!(
        verdict.contains("ACCEPTED") && verdict.contains(&known.0),
        "{verdict}"
    );
}
