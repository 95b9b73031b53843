//! A running proxy: a new key without a restart, metrics, and a stop that lets open connections end.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use url::Url;

use crate::carry::{BODY, before, beside, request, service};
use crate::http::Request;
use crate::node::{Listening, Node, PATIENCE, issuer, keyed};
use crate::rig::{World, get, items, selfsame, set_status};

/// A proxy's metrics.
pub fn figures(proxy: &Listening) -> String {
    let mut said = proxy.said.iter();
    let url = said
        .find_map(|line| line.strip_prefix("metrics on "))
        .unwrap();
    let reply = Request::new("GET", &Url::parse(url).unwrap())
        .send()
        .unwrap();
    assert_eq!(reply.status, 200);
    String::from_utf8(reply.body).unwrap()
}

/// One metric, summed over all its lines.
fn sum(figures: &str, name: &str) -> u64 {
    let lines = figures.lines().filter(|line| line.starts_with(name));
    lines
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum()
}

/// Repeats a request until it is answered, or until it is not, for as long as news may take to spread.
#[track_caller]
fn until(proxy: &Listening, is_answered: bool) {
    let began = Instant::now();
    while request(proxy).is_some() != is_answered {
        assert!(began.elapsed() < PATIENCE, "still not so: {is_answered}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_proxy_takes_a_new_key_without_being_started_again() {
    let world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "selfsame"), "vc+jwt");
    let sensor = Node::vouched(&world, ("sensor", "key"), "dc+sd-jwt");
    let mut near = before(&broker, &issuer, service());
    let near = Listening::start(near.args(["--metrics", "127.0.0.1:0"]));
    let mut far = beside(&sensor, &issuer, near.address);
    let far = Listening::start(far.args(["--reuse", "1"]));
    assert_eq!(request(&far), Some(BODY));

    // The DID has another key now, which the running proxy does not know yet.
    broker.rotate();
    until(&far, false);
    near.signal("-HUP");
    near.complains("were read again");
    until(&far, true);

    // Files that can't be read change nothing.
    let aside = broker.folder.with_extension("aside");
    std::fs::rename(&broker.folder, &aside).unwrap();
    near.signal("-HUP");
    near.complains("stay unchanged");
    assert_eq!(request(&far), Some(BODY));

    let counted = figures(&near);
    let is = |name: &str| sum(&counted, name);
    assert_eq!(
        is("selfsame_tls_reloads_total{result=\"taken\"}"),
        1,
        "{counted}"
    );
    assert_eq!(
        is("selfsame_tls_reloads_total{result=\"failed\"}"),
        1,
        "{counted}"
    );
    let refused = "selfsame_tls_refusals_total{by=\"peer\",alert=\"decrypt_error\"";
    assert!(is(refused) >= 1, "{counted}");
    assert!(is("selfsame_tls_handshakes_total") >= 3, "{counted}");
    let down = is("selfsame_tls_carried_bytes_total{direction=\"down\"}");
    assert!(down >= 2 * BODY as u64, "{counted}");
}

/// An echo service.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().unwrap();
                let _ended = std::io::copy(&mut stream, &mut writer);
            });
        }
    });
    address
}

/// Two proxies whose nodes trust each other's DIDs; the one in front of the service first.
fn pair(folder: &Path, service: SocketAddr, more: &[&str]) -> (Listening, Listening) {
    let (one, other) = (folder.join("one"), folder.join("other"));
    let (of_one, of_other) = (keyed(&one), keyed(&other));
    let proxy = |identity: &Path, trusted: &str| -> Command {
        let mut command = selfsame();
        command.args([
            "tls",
            "proxy",
            "--json",
            "--trust-did",
            trusted,
            "--identity",
        ]);
        command.arg(identity);
        command
    };
    let mut near = proxy(&one, &of_other);
    near.args(["--listen", "127.0.0.1:0", "--to", &service.to_string()]);
    let near = Listening::start(near.args(more));
    let mut far = proxy(&other, &of_one);
    far.args([
        "--listen-plain",
        "127.0.0.1:0",
        "--connect",
        &near.address.to_string(),
    ]);
    (near, Listening::start(&mut far))
}

fn exchange(stream: &mut TcpStream, words: &[u8]) {
    stream.write_all(words).unwrap();
    let mut answer = vec![0; words.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, words);
}

#[test]
fn a_proxy_that_is_told_to_stop_lets_what_is_open_end_and_takes_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    let (near, far) = pair(folder.path(), echo(), &["--grace", "600"]);
    let mut open = TcpStream::connect(far.address).unwrap();
    open.set_read_timeout(Some(PATIENCE)).unwrap();
    exchange(&mut open, b"before");
    near.signal("-TERM");
    let began = Instant::now();
    while TcpStream::connect(near.address).is_ok() {
        assert!(began.elapsed() < PATIENCE, "it still listens");
        std::thread::sleep(Duration::from_millis(20));
    }
    exchange(&mut open, b"after");
    open.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(open.read(&mut [0; 1]).unwrap(), 0);
    // The connection that only checked whether the proxy listens was reported too.
    let told = loop {
        let told = near.tells();
        if told["accepted"] == true {
            break told;
        }
    };
    assert_eq!(
        (&told["up"], &told["accepted"]),
        (&11.into(), &true.into()),
        "{told}"
    );
    assert!(told["cut"].is_null(), "{told}");
    assert_eq!(near.ends(), Some(0));
}

#[test]
fn a_proxy_that_is_told_to_stop_waits_no_longer_than_its_grace() {
    let folder = tempfile::tempdir().unwrap();
    let (near, far) = pair(folder.path(), echo(), &["--grace", "1"]);
    let mut open = TcpStream::connect(far.address).unwrap();
    open.set_read_timeout(Some(PATIENCE)).unwrap();
    exchange(&mut open, b"before");
    near.signal("-TERM");
    near.complains("1 connections were cut at shutdown");
    assert_eq!(near.ends(), Some(0));
    // The connection was cut, not closed regularly.
    assert!(open.read(&mut [0; 1]).is_err());
}

#[test]
fn figures_are_told_on_loopback_alone() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    let did = keyed(&identity);
    let mut command = selfsame();
    command
        .args([
            "tls",
            "proxy",
            "--listen",
            "127.0.0.1:0",
            "--to",
            "127.0.0.1:9",
        ])
        .args(["--trust-did", &did, "--metrics", "0.0.0.0:0", "--identity"]);
    let (code, _, complaints) = crate::rig::run(command.arg(&identity));
    assert_eq!(code, 2, "{complaints}");
    assert!(
        complaints.contains("hint: choose a loopback address"),
        "{complaints}"
    );
}

/// Reads until the stream ends or is cut.
fn gone(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    match stream.read(&mut [0; 16]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

/// The report on the first admitted connection.
fn told(proxy: &Listening) -> serde_json::Value {
    loop {
        let told = proxy.tells();
        if told["accepted"] == true {
            return told;
        }
    }
}

#[test]
fn an_open_connection_ends_once_its_peer_is_revoked() {
    let world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "key"), "vc+jwt");
    let sensor = Node::vouched(&world, ("sensor", "key"), "dc+sd-jwt");
    let mut near = before(&broker, &issuer, echo());
    let near = Listening::start(near.args(["--reuse", "1"]));
    let far = Listening::start(&mut beside(&sensor, &issuer, near.address));
    let mut open = TcpStream::connect(far.address).unwrap();
    exchange(&mut open, b"before");
    // The peer was verified several times meanwhile, and admitted each time.
    std::thread::sleep(Duration::from_secs(4));
    exchange(&mut open, b"still");
    // The newest is the sensor's.
    let issued = get(&world.operator, "/api/issuer/credentials");
    set_status(&world.operator, &items(&issued)[0], "revoked");
    assert!(gone(&mut open));
    let told = told(&near);
    let cut = told["cut"].as_str().unwrap_or_default();
    assert!(cut.contains("certificate_revoked"), "{told}");
}

#[test]
fn an_open_connection_ends_after_the_longest_time_that_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let (near, far) = pair(folder.path(), echo(), &["--longest", "4"]);
    let mut open = TcpStream::connect(far.address).unwrap();
    exchange(&mut open, b"before");
    assert!(gone(&mut open));
    let told = told(&near);
    let cut = told["cut"].as_str().unwrap_or_default();
    assert!(cut.contains("reached its maximum duration"), "{told}");
}

#[test]
fn silent_connections_keep_no_other_client_out() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = [
        "--connections",
        "8",
        "--per-address",
        "8",
        "--handshakes",
        "2",
    ];
    let (near, far) = pair(folder.path(), echo(), &bounds);
    let silent: Vec<_> = (0..5)
        .map(|_| TcpStream::connect(near.address).unwrap())
        .collect();
    let mut open = TcpStream::connect(far.address).unwrap();
    open.set_read_timeout(Some(PATIENCE)).unwrap();
    exchange(&mut open, b"served");
    drop(silent);
}

#[test]
fn an_address_has_its_share_of_the_connections_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = ["--connections", "8", "--metrics", "127.0.0.1:0"];
    let (near, far) = pair(folder.path(), echo(), &bounds);
    let mut open: Vec<_> = (0..2)
        .map(|_| TcpStream::connect(far.address).unwrap())
        .collect();
    for stream in &mut open {
        exchange(stream, b"served");
    }
    // A quarter of eight is two.
    let mut further = TcpStream::connect(far.address).unwrap();
    assert!(gone(&mut further));
    assert_eq!(sum(&figures(&near), "selfsame_tls_turned_away_total"), 1);
    exchange(&mut open[0], b"still");
}
