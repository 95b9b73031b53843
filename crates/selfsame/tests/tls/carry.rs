//! An HTTP service behind two proxies, with credentials of our own issuer; and who is refused.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use url::Url;

use crate::http::Request;
use crate::node::{Listening, Node, PATIENCE, issuer};
use crate::rig::{World, get, items, run, set_status};

/// More than all buffers on the way hold.
pub const BODY: usize = 3 * 1024 * 1024;

/// A plain HTTP service that answers every request with the same long body.
pub fn service() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&chunk[..count]),
        }
    }
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(&vec![b'x'; BODY]);
}

/// A proxy in front of `service` that admits every peer with a credential of the issuer.
fn inward(node: &Node<'_>, issuer: &str, service: SocketAddr) -> Listening {
    Listening::start(&mut before(node, issuer, service))
}

pub fn before(node: &Node<'_>, issuer: &str, service: SocketAddr) -> Command {
    let mut command = node.tls("proxy");
    command
        .args(["--listen", "127.0.0.1:0", "--to", &service.to_string()])
        .args(["--trust-issuer", issuer, "--expect-anybody", "--json"]);
    command
}

/// A proxy for a client, which connects to the broker.
fn outward(node: &Node<'_>, issuer: &str, to: SocketAddr) -> Listening {
    Listening::start(&mut beside(node, issuer, to))
}

pub fn beside(node: &Node<'_>, issuer: &str, to: SocketAddr) -> Command {
    let mut command = node.tls("proxy");
    command
        .args(["--listen-plain", "127.0.0.1:0"])
        .args(["--connect", &to.to_string(), "--trust-issuer", issuer])
        .args(["--expect-claim", "dns=broker.example.org", "--json"]);
    command
}

/// The response length that a client without TLS gets.
pub fn request(proxy: &Listening) -> Option<usize> {
    let url = Url::parse(&format!("http://{}/", proxy.address)).unwrap();
    let reply = Request::new("GET", &url).send().ok()?;
    (reply.status == 200).then_some(reply.body.len())
}

/// A client that only prints the server's identity.
fn client(node: &Node<'_>, to: SocketAddr, policy: &[&str]) -> Command {
    let mut command = node.tls("client");
    command.arg(to.to_string()).args(policy).arg("--json");
    command
}

/// Its verdict and its exit code.
#[track_caller]
fn asked(command: &mut Command) -> (i32, Value) {
    let (code, printed, complaints) = run(command);
    let verdict = serde_json::from_str(&printed);
    (
        code,
        verdict.unwrap_or_else(|_| panic!("{code}: {printed}{complaints}")),
    )
}

#[track_caller]
fn assert_refused((code, verdict): &(i32, Value), alert: &str) {
    let reason = verdict["reason"].as_str().unwrap_or_default();
    assert_eq!(
        (*code, &verdict["accepted"]),
        (1, &Value::Bool(false)),
        "{verdict}"
    );
    assert!(reason.contains(alert), "{alert} is not in {verdict}");
}

/// Repeats the command until it is refused with this alert, for as long as news may take to spread.
#[track_caller]
fn refused_in_the_end(command: &mut Command, alert: &str) {
    let began = Instant::now();
    loop {
        let answer = asked(command);
        if answer.0 != 0 {
            return assert_refused(&answer, alert);
        }
        assert!(began.elapsed() < PATIENCE, "still let in: {answer:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn two_proxies_carry_an_http_service_by_credentials_of_our_own_issuer() {
    let world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "key"), "dc+sd-jwt");
    let sensor = Node::vouched(&world, ("sensor", "selfsame"), "vc+jwt");
    let near = inward(&broker, &issuer, service());
    let far = outward(&sensor, &issuer, near.address);

    // Neither the client nor the service knows about the proxies.
    for _ in 0..3 {
        assert_eq!(request(&far), Some(BODY));
        let (here, there) = (near.tells(), far.tells());
        assert_eq!(here["did"], sensor.did.as_str());
        assert_eq!(here["claims"]["service"], "sensor");
        assert_eq!(there["did"], broker.did.as_str());
        assert_eq!(there["issuer"], issuer.as_str());
        assert_eq!(here["accepted"], true);
        assert!(here["down"].as_u64().unwrap() > BODY as u64);
        assert_eq!(here["down"], there["down"]);
    }
    assert_eq!(far.stop(), Some(0));
    assert_eq!(near.stop(), Some(0));
}

#[test]
fn with_staples_nothing_is_looked_up_and_the_registry_may_be_away() {
    let mut world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "selfsame"), "vc+jwt");
    let sensor = Node::vouched(&world, ("sensor", "selfsame"), "vc+jwt");
    let mut inward = broker.tls("proxy");
    inward
        .args(["--listen", "127.0.0.1:0", "--to", &service().to_string()])
        .args(["--trust-issuer", &issuer, "--expect-did", &sensor.did])
        .args(["--staples", "600", "--json"]);
    let near = Listening::start(&mut inward);
    let mut outward = sensor.tls("proxy");
    outward
        .args(["--listen-plain", "127.0.0.1:0"])
        .args(["--connect", &near.address.to_string()])
        .args(["--trust-issuer", &issuer, "--expect-did", &broker.did])
        .args(["--staples", "600", "--json"]);
    let far = Listening::start(&mut outward);
    let did = sensor.did.clone();
    world.instance.kill();
    let url = Url::parse(&format!("http://{}/", far.address)).unwrap();
    let reply = Request::new("GET", &url).send();
    let (here, there) = (near.tells(), far.tells());
    assert!(reply.is_ok(), "{here} {there}");
    assert_eq!(here["did"], did.as_str(), "{here} {there}");
    assert_eq!(reply.unwrap().body.len(), BODY);
}

#[test]
fn who_is_not_vouched_for_or_not_expected_is_refused_and_the_service_hears_nothing() {
    let world = World::start(&[]);
    let elsewhere = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "key"), "vc+jwt");
    let sensor = Node::vouched(&world, ("sensor", "jwk"), "vc+jwt");
    let stranger = Node::vouched(&elsewhere, ("stranger", "key"), "vc+jwt");
    // No process listens there: an admitted client would get an error about that.
    let proxy = inward(&broker, &issuer, SocketAddr::from(([127, 0, 0, 1], 9)));

    // Its own issuer is not trusted there, and it can't resolve the broker's issuer either; so it trusts the broker's
    // DID.
    let mut strange = client(&stranger, proxy.address, &["--trust-did", &broker.did]);
    let answer = asked(&mut strange);
    assert_eq!(answer.0, 1, "{answer:?}");

    let other = [
        "--trust-issuer",
        &issuer,
        "--expect-claim",
        "dns=else.example.org",
    ];
    assert_refused(
        &asked(&mut client(&sensor, proxy.address, &other)),
        "access_denied",
    );
    let own = Node::vouched(&world, ("own", "key"), "vc+jwt");
    let other = ["--trust-issuer", &issuer, "--expect-did", &own.did];
    assert_refused(
        &asked(&mut client(&sensor, proxy.address, &other)),
        "access_denied",
    );
}

#[test]
fn who_has_a_credential_of_another_issuer_or_none_is_refused_with_the_reason() {
    let world = World::start(&[]);
    let elsewhere = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "key"), "vc+jwt");
    let sensor = Node::vouched(&world, ("sensor", "jwk"), "vc+jwt");
    let stranger = Node::vouched(&elsewhere, ("stranger", "key"), "vc+jwt");
    let named = [
        "--trust-issuer",
        &issuer,
        "--expect-claim",
        "dns=broker.example.org",
    ];

    // With a credential of another issuer.
    let server = Listening::start(
        broker
            .tls("server")
            .args(["--listen", "127.0.0.1:0", "--json"])
            .args(["--trust-issuer", &issuer, "--expect-anybody"]),
    );
    let mut strange = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    strange
        .args([
            "tls",
            "client",
            &server.address.to_string(),
            "--json",
            "--identity",
        ])
        .arg(&stranger.folder)
        .args(named)
        .args(["--trust-origin", world.instance.origin.as_str()])
        .args(["--registry", world.instance.origin.as_str()]);
    assert_refused(&asked(&mut strange), "unknown_ca");
    let told = server.tells();
    assert_eq!(told["accepted"], false);
    assert!(
        told["reason"].as_str().unwrap().contains("unknown_ca"),
        "{told}"
    );
    // And without any.
    let mut nobody = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    nobody
        .args(["tls", "client", &server.address.to_string(), "--json"])
        .args(named)
        .args(["--trust-origin", world.instance.origin.as_str()])
        .args(["--registry", world.instance.origin.as_str()]);
    assert_eq!(asked(&mut nobody).0, 1);
    assert_eq!(server.tells()["accepted"], false);
    // The node whose DID is expected is admitted.
    let answer = asked(&mut client(&sensor, server.address, &named));
    assert_eq!(
        (answer.0, &answer.1["accepted"]),
        (0, &Value::Bool(true)),
        "{answer:?}"
    );
    assert_eq!(server.tells()["did"], sensor.did.as_str());
}

#[test]
fn who_was_revoked_or_has_ended_is_refused_from_then_on() {
    let world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "key"), "dc+sd-jwt");
    let sensor = Node::vouched(&world, ("sensor", "key"), "dc+sd-jwt");
    let meter = Node::vouched(&world, ("meter", "selfsame"), "vc+jwt");
    let server = Listening::start(
        broker
            .tls("server")
            .args(["--listen", "127.0.0.1:0", "--json", "--reuse", "1"])
            .args(["--trust-issuer", &issuer, "--expect-anybody"]),
    );
    let policy = [
        "--trust-issuer",
        &issuer,
        "--expect-claim",
        "dns=broker.example.org",
    ];
    for node in [&sensor, &meter] {
        let answer = asked(&mut client(node, server.address, &policy));
        assert_eq!(answer.0, 0, "{answer:?}");
    }

    // The newest first: the meter's, then the sensor's.
    let issued = get(&world.operator, "/api/issuer/credentials");
    let of_sensor = &items(&issued)[1];
    set_status(&world.operator, of_sensor, "revoked");
    refused_in_the_end(
        &mut client(&sensor, server.address, &policy),
        "certificate_revoked",
    );
    assert_eq!(asked(&mut client(&meter, server.address, &policy)).0, 0);

    meter.deactivate();
    refused_in_the_end(
        &mut client(&meter, server.address, &policy),
        "certificate_revoked",
    );
}

#[test]
fn machines_with_compact_credentials_are_let_in_until_they_are_revoked() {
    let world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "selfsame"), "cwt");
    let sensor = Node::vouched(&world, ("sensor", "key"), "cwt");
    let server = Listening::start(
        broker
            .tls("server")
            .args(["--listen", "127.0.0.1:0", "--json", "--reuse", "1"])
            .args(["--trust-issuer", &issuer, "--expect-anybody"]),
    );
    let policy = |host| ["--trust-issuer", &issuer, "--expect-claim", host];
    let (known, other) = (
        policy("dns=broker.example.org"),
        policy("dns=other.example.org"),
    );
    let answer = asked(&mut client(&sensor, server.address, &known));
    assert_eq!(answer.0, 0, "{answer:?}");
    assert_eq!(answer.1["did"], broker.did.as_str(), "{answer:?}");
    assert_eq!(server.tells()["did"], sensor.did.as_str());
    let answer = asked(&mut client(&sensor, server.address, &other));
    assert_refused(&answer, "access_denied");

    // The newest first: the sensor's, then the broker's.
    let issued = get(&world.operator, "/api/issuer/credentials");
    set_status(&world.operator, &items(&issued)[1], "revoked");
    refused_in_the_end(
        &mut client(&sensor, server.address, &known),
        "certificate_revoked",
    );
}

#[test]
fn who_connects_again_resumes_and_who_was_revoked_meanwhile_does_not() {
    let world = World::start(&[]);
    let issuer = issuer(&world);
    let broker = Node::vouched(&world, ("broker", "key"), "dc+sd-jwt");
    let sensor = Node::vouched(&world, ("sensor", "selfsame"), "vc+jwt");
    let meter = Node::vouched(&world, ("meter", "selfsame"), "vc+jwt");
    let service = service();
    // One proxy reuses what it has looked up for as long as this test may take, the other for a second.
    let patient = Listening::start(before(&broker, &issuer, service).args(["--reuse", "600"]));
    let wary = Listening::start(before(&broker, &issuer, service).args(["--reuse", "1"]));

    let mut far = beside(&sensor, &issuer, patient.address);
    let far = Listening::start(far.args(["--reuse", "600"]));
    for again in [false, true, true] {
        assert_eq!(request(&far), Some(BODY));
        for end in [&patient, &far] {
            let told = end.tells();
            assert_eq!(told["resumed"].is_u64(), again, "{told}");
            assert_eq!(told["accepted"], true);
        }
    }
    let mut full = beside(&sensor, &issuer, patient.address);
    let full = Listening::start(full.args(["--reuse", "600", "--no-resumption"]));
    for _ in 0..2 {
        assert_eq!(request(&full), Some(BODY));
        assert!(patient.tells()["resumed"].is_null());
    }

    let of_sensor = outward(&sensor, &issuer, wary.address);
    let of_meter = outward(&meter, &issuer, wary.address);
    for proxy in [&of_sensor, &of_meter] {
        assert_eq!(request(proxy), Some(BODY));
        assert_eq!(wary.tells()["accepted"], true);
    }
    let issued = get(&world.operator, "/api/issuer/credentials");
    set_status(&world.operator, &items(&issued)[1], "revoked");
    assert_cut_off(&of_sensor, &wary);
    meter.deactivate();
    assert_cut_off(&of_meter, &wary);
}

/// A client of this proxy resumes with tickets, and is refused as revoked as soon as the revocation is known.
#[track_caller]
fn assert_cut_off(proxy: &Listening, by: &Listening) {
    let began = Instant::now();
    loop {
        let _refused_or_not = request(proxy);
        let told = by.tells();
        if told["accepted"] == false {
            let reason = told["reason"].as_str().unwrap();
            return assert!(reason.contains("certificate_revoked"), "{told}");
        }
        assert!(began.elapsed() < PATIENCE, "still let in: {told}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
