//! An organisation with a host of its own: issuing, asking and verifying there, plainly and over TLS.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::http::Request;
use crate::instance::free_port;
use crate::rig::{World, answer, command, get, post, run, selfsame, take, text, write_private};
use crate::starting::{Up, spoken};

const HOST: &str = "id.clinic.localhost";

#[test]
fn a_credential_of_an_organisation_names_its_host_and_is_verified_there() {
    let world = World::start(&[]);
    let create = [
        "organisation",
        "create",
        "clinic",
        "--title",
        "Clinic",
        "--host",
        HOST,
        "--did-method",
        "web",
        "--json",
    ];
    let (code, printed, complaints) = run(&mut command(&world, &create));
    assert_eq!(code, 0, "{printed}{complaints}");
    let created: Value = serde_json::from_str(&printed).unwrap();
    let port = world.instance.origin.port().unwrap();
    let did = format!("did:web:{HOST}%3A{port}:issuer");
    assert_eq!(created["did"], json!(did));
    let drawing = r#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>"#;
    let file = world.file("clinic.svg");
    std::fs::write(&file, drawing).unwrap();
    let logo = ["organisation", "logo", "clinic", file.to_str().unwrap()];
    assert_eq!(run(&mut command(&world, &logo)).0, 0);

    let person = world.person("maja");
    let offer = json!({"type": "immunization", "examples": true, "by_reference": true});
    let offer = post(&world.operator, "/o/clinic/api/issuer/offers", &offer);
    let link = json!({"offer": offer["uri"]});
    let preview = post(&person, "/api/wallet/offers/preview", &link);
    assert_eq!(
        preview["issuer"],
        json!(format!("http://{HOST}:{port}/issuer"))
    );
    let logo = text(&preview, "issuer_logo");
    let below = format!("{}o/clinic/logo/", world.instance.origin);
    assert!(logo.starts_with(&below), "{logo}");
    let card = take(&person, &offer).remove(0);
    assert_eq!(card["issuer"], json!(did), "{card}");
    // Pages load nothing from other hosts, so the logo of the card is at the instance's own.
    let origin = &world.instance.origin;
    let logo = format!("{origin}o/clinic/types/immunization/1/logo");
    assert_eq!(text(&preview["credentials"][0]["display"], "logo"), logo);
    let path = format!("/api/wallet/credentials/{}", text(&card, "id"));
    assert_eq!(
        text(&get(&person, &path)["summary"]["display"], "logo"),
        logo
    );
    let cards = get(&person, "/api/wallet/credentials");
    assert_eq!(text(&cards["items"][0]["display"], "logo"), logo);
    let drawn = world
        .anybody()
        .send("GET", &logo[origin.as_str().len() - 1..], None);
    let drawn = drawn.unwrap();
    assert_eq!(drawn.status, 200);
    assert!(drawn.body.starts_with(b"<svg"), "{drawn:?}");

    let asked = json!({"type": "immunization", "client_id_prefix": "decentralized_identifier"});
    let asked = post(&world.operator, "/o/clinic/api/verifier/requests", &asked);
    let uri = text(&asked, "uri");
    assert!(uri.contains(HOST), "{uri}");
    answer(&person, &asked);
    let request = format!("/o/clinic/api/verifier/requests/{}", text(&asked, "id"));
    let verdict = get(&world.operator, &format!("{request}?wait=20"));
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
    let list = world.anybody().request("GET", "/status/0");
    let list = list.under(&format!("{HOST}:{port}")).send().unwrap();
    assert_eq!(list.status, 200);
}

/// A folder with the settings and the certificates of an instance that ends TLS.
struct Listener {
    folder: tempfile::TempDir,
    port: u16,
    /// Where its metrics are read.
    watched: u16,
}

impl Listener {
    fn new() -> Self {
        let listener = Self {
            folder: tempfile::tempdir().unwrap(),
            port: free_port(),
            watched: free_port(),
        };
        listener.certify("own", "localhost");
        listener.certify("clinic", HOST);
        listener.list(&[HOST]);
        listener
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A new certificate, which is its own root.
    fn certify(&self, name: &str, host: &str) {
        self.certify_until(name, host, 2090);
    }

    /// A new certificate that ends with the beginning of this year.
    fn certify_until(&self, name: &str, host: &str, year: i32) {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let made = params.self_signed(&key).unwrap();
        std::fs::write(self.at(&format!("{name}.pem")), made.pem()).unwrap();
        write_private(&self.at(&format!("{name}.key")), &key.serialize_pem());
    }

    /// Lists these hosts in the settings.
    fn list(&self, names: &[&str]) {
        let hosts = format!(
            "[[tls.hosts]]\nnames = {names:?}\ncertificate = \"clinic.pem\"\ncertificate_key = \"clinic.key\"\n"
        );
        let hosts = if names.is_empty() { "" } else { hosts.as_str() };
        let health = format!("[health]\nlisten = \"127.0.0.1:{}\"\n", self.watched);
        std::fs::write(self.at("settings.toml"), health + hosts).unwrap();
    }

    /// Starts the instance; what it complains of goes to a file.
    fn start(&self) -> (Up, Value) {
        let mut command = selfsame();
        command.args(["up", "--json", "--no-demo", "--listen"]);
        command.arg(format!("127.0.0.1:{}", self.port));
        command.args(["--origin", &format!("https://localhost:{}/", self.port)]);
        command.arg("--config").arg(self.at("settings.toml"));
        command.arg("--data").arg(self.at("data"));
        command.arg("--tls-certificate").arg(self.at("own.pem"));
        command.arg("--tls-key").arg(self.at("own.key"));
        let complaints = std::fs::File::create(self.at("complaints")).unwrap();
        command.stderr(Stdio::from(complaints));
        spoken(&mut command)
    }

    /// The seconds until a certificate ends, by the metrics.
    fn seconds_left(&self, labels: &str) -> Option<f64> {
        let url = format!("http://127.0.0.1:{}/metrics", self.watched);
        let reply = Request::new("GET", &url.parse().unwrap()).send().ok()?;
        let metrics = String::from_utf8(reply.body).unwrap();
        let name = format!("selfsame_certificate_expiry_seconds{{{labels}}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name))?;
        line.parse().ok()
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(self.at("complaints")).unwrap()
    }

    /// A command to the instance as its operator.
    #[track_caller]
    fn told(&self, said: &Value, arguments: &[&str]) -> Value {
        let mut command = selfsame();
        command.args(arguments).arg("--json");
        command.args(["--instance", &text(said, "origin")]);
        command.args(["--token-file", &text(said, "operator_token_file")]);
        let (code, printed, complaints) = run(command.arg("--tls-root").arg(self.at("own.pem")));
        assert_eq!(code, 0, "{arguments:?}: {printed}{complaints}");
        serde_json::from_str(&printed).unwrap()
    }

    /// Whether a client that trusts this root alone gets an answer at the host of the organisation.
    fn is_answered(&self, root: &Path) -> bool {
        let mut status = selfsame();
        let host = format!("https://{HOST}:{}/", self.port);
        status.args(["status", "--instance", &host, "--token-file"]);
        status.arg(self.at("data/operator-token"));
        let (code, printed, complaints) = run(status.arg("--tls-root").arg(root));
        // The API of operators is not at this host.
        assert_ne!(code, 0, "{printed}");
        complaints.contains("there is nothing at this address")
    }
}

fn hang_up(up: &Up) {
    let id = up.0.id().to_string();
    let told = Command::new("kill").args(["-HUP", &id]).status();
    assert!(told.unwrap().success());
}

#[track_caller]
fn soon(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn an_organisation_issues_and_verifies_over_tls_at_its_host_with_a_certificate_of_its_own() {
    let listener = Listener::new();
    let (_up, said) = listener.start();
    let told = |arguments: &[&str]| listener.told(&said, arguments);
    told(&[
        "organisation",
        "create",
        "clinic",
        "--title",
        "Clinic",
        "--host",
        HOST,
        "--did-method",
        "web",
    ]);
    let password = listener.at("password");
    write_private(&password, "correct horse battery");
    let password = password.to_str().unwrap();
    let owner = ["--email", "maja@example.org", "--password-file", password];
    let present = |link: &str| told(&[&["present", link], &owner[..]].concat());
    told(&[&["wallet", "create"], &owner[..]].concat());
    let offer = told(&[
        "issue",
        "immunization",
        "--examples",
        "--by-reference",
        "--organisation",
        "clinic",
    ]);
    assert!(text(&offer, "uri").contains(HOST), "{offer}");
    let taken = present(&text(&offer, "uri"));
    let did = format!("did:web:{HOST}%3A{}:issuer", listener.port);
    assert_eq!(taken["items"][0]["issuer"], json!(did), "{taken}");
    let request = told(&[
        "request",
        "create",
        "--type",
        "immunization",
        "--organisation",
        "clinic",
    ]);
    present(&text(&request, "uri"));
    let id = text(&request, "id");
    let shown = told(&["request", "show", &id, "--organisation", "clinic"]);
    assert_eq!(shown["verdict"]["outcome"], "valid", "{shown}");
}

#[test]
fn the_certificate_of_a_host_is_chosen_by_the_name_that_a_client_asks_for_and_read_again_after_a_hangup()
 {
    let listener = Listener::new();
    listener.list(&[]);
    let (up, said) = listener.start();
    let host = [
        "organisation",
        "create",
        "clinic",
        "--title",
        "Clinic",
        "--host",
        HOST,
    ];
    listener.told(&said, &host);
    let (own, clinic) = (listener.at("own.pem"), listener.at("clinic.pem"));
    assert!(!listener.is_answered(&own) && !listener.is_answered(&clinic));
    listener.list(&[HOST]);
    hang_up(&up);
    soon(|| listener.is_answered(&clinic));
    assert!(!listener.is_answered(&own));
    let first = listener.at("first.pem");
    std::fs::copy(&clinic, &first).unwrap();

    std::fs::write(&clinic, "half written").unwrap();
    hang_up(&up);
    soon(|| {
        listener
            .complaints()
            .contains("[[tls.hosts]] stay unchanged")
    });
    assert!(listener.is_answered(&first), "what was shown stays");

    listener.certify("clinic", HOST);
    hang_up(&up);
    soon(|| listener.is_answered(&clinic));
    assert!(!listener.is_answered(&first));
    listener.told(&said, &["status"]);
    drop(up);

    let check = || {
        let mut command = selfsame();
        command.args(["check", "--json", "--data"]);
        command.arg(listener.at("data")).arg("--config");
        let (code, printed, _) = run(command.arg(listener.at("settings.toml")));
        let report: Value = serde_json::from_str(&printed).unwrap_or_default();
        let part = report["parts"].as_array().and_then(|parts| parts.last());
        (code, part.cloned().unwrap_or_default()["damage"].clone())
    };
    // The process that was told to stop lets go of its data a moment later.
    soon(|| check().0 == 0);
    listener.list(&["id.other.localhost"]);
    let (code, damage) = check();
    let damage = damage.to_string();
    assert_eq!(code, 1, "{damage}");
    let missing = format!("no certificate under [[tls.hosts]] is for {HOST}");
    for said in ["not for id.other.localhost", &missing] {
        assert!(damage.contains(said), "{said}: {damage}");
    }
    listener.list(&[]);
    assert_eq!(check().0, 0, "the listener's own certificate is not judged");

    let (_up, _) = listener.start();
    let warned = format!("no certificate is for {HOST}");
    assert!(
        listener.complaints().contains(&warned),
        "{}",
        listener.complaints()
    );
}

#[test]
fn the_metrics_tell_when_certificates_end_and_the_log_warns_of_one_that_has() {
    let listener = Listener::new();
    listener.certify_until("clinic", HOST, 2021);
    let (up, _) = listener.start();
    let own = r#"use="listener",name="localhost""#;
    let clinic = format!(r#"use="host",name="{HOST}""#);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let left = listener.seconds_left(own).unwrap();
    // The first second of 2090.
    assert!(
        (left - (3_786_912_000.0 - now.as_secs_f64())).abs() < 120.0,
        "{left}"
    );
    assert!(listener.seconds_left(&clinic).unwrap() < 0.0);
    soon(|| listener.complaints().contains("a certificate has ended"));
    listener.list(&[]);
    hang_up(&up);
    soon(|| listener.seconds_left(&clinic).is_some_and(f64::is_nan));
}
