//! An instance that listens for nodes on a second listener.

use std::fs::rename;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::instance::free_port;
use crate::node::{PATIENCE, keyed};
use crate::rig::{World, run, selfsame};

#[test]
fn an_instance_serves_nodes_it_trusts_and_no_others() {
    let port = free_port();
    let mut known = (String::new(), String::new());
    let world = World::prepared(&[], |folder, _| {
        known = (keyed(&folder.join("own")), keyed(&folder.join("client")));
        keyed(&folder.join("stranger"));
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

#[test]
fn an_instance_takes_another_identity_without_being_started_again() {
    let port = free_port();
    let mut known = Vec::new();
    let world = World::prepared(&[], |folder, _| {
        known = ["own", "next", "client"]
            .map(|name| keyed(&folder.join(name)))
            .to_vec();
        format!(
            "[tls]\nlisten = \"127.0.0.1:{port}\"\nidentity = \"own\"\n[tls.clients]\ntrust_did = [\"{}\"]\n",
            known[2]
        )
    });
    let is_there = |did: &str| {
        let mut client = selfsame();
        client.args(["tls", "client", &format!("127.0.0.1:{port}"), "--json"]);
        client.args(["--trust-did", did, "--identity"]);
        let ended = client.arg(world.file("client")).output().unwrap();
        ended.status.code()
    };
    assert_eq!(
        (is_there(&known[0]), is_there(&known[1])),
        (Some(0), Some(1))
    );

    rename(world.file("own"), world.file("before")).unwrap();
    rename(world.file("next"), world.file("own")).unwrap();
    let id = world.instance.id().to_string();
    let told = Command::new("kill").args(["-HUP", &id]).status();
    assert!(told.unwrap().success());
    let began = Instant::now();
    while is_there(&known[1]) != Some(0) {
        assert!(began.elapsed() < PATIENCE, "{}", world.instance.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(is_there(&known[0]), Some(1));
}
