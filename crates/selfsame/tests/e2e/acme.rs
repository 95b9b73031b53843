//! An instance whose certificate an authority gives: Pebble, a real server of ACME.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::http::Request;
use crate::instance::free_port;
use crate::pebble::{Pebble, PebbleSettings, accepted, answered};
use crate::rig::{run, selfsame};
use crate::starting::{Up, spoken};

const HOST: &str = "id.selfsame.example";

/// An instance that ends TLS, and its authority.
struct Ordering {
    folder: tempfile::TempDir,
    authority: Pebble,
    port: u16,
    plain: u16,
    watched: u16,
}

impl Ordering {
    fn new() -> Self {
        let (port, plain) = (free_port(), free_port());
        let settings = PebbleSettings {
            tls_port: port,
            http_port: plain,
            life: 86_400,
            refused_nonces: 5,
            binds_accounts: false,
        };
        let ordering = Self {
            folder: tempfile::tempdir().unwrap(),
            authority: Pebble::new(settings, free_port),
            port,
            plain,
            watched: free_port(),
        };
        ordering.settle("terms_agreed = true\n");
        ordering
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the settings, with these lines of `[tls.acme]`.
    fn settle(&self, lines: &str) {
        let (port, plain, watched) = (self.port, self.plain, self.watched);
        let (directory, root) = (self.authority.directory(), self.authority.root_file());
        let text = format!(
            "[instance]\norigin = \"https://{HOST}:{port}/\"\nlisten = \"127.0.0.1:{port}\"\n\
             [health]\nlisten = \"127.0.0.1:{watched}\"\n\
             [tls.acme]\n{lines}directory = \"{directory}\"\nroot = {root:?}\n\
             listen = \"127.0.0.1:{plain}\"\n"
        );
        std::fs::write(self.at("settings.toml"), text).unwrap();
    }

    /// The exit code of `config check`, and what it prints.
    fn checked(&self) -> (i32, String) {
        let mut command = selfsame();
        command
            .args(["config", "check"])
            .arg(self.at("settings.toml"));
        let (code, printed, _) = run(&mut command);
        (code, printed)
    }

    /// Starts the instance; what it complains of goes to a file.
    fn start(&self) -> Up {
        let mut command = selfsame();
        command.args(["up", "--json", "--no-demo", "--config"]);
        command.arg(self.at("settings.toml"));
        command.arg("--data").arg(self.at("data"));
        let complaints = std::fs::File::create(self.at("complaints")).unwrap();
        command.stderr(Stdio::from(complaints));
        spoken(&mut command).0
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(self.at("complaints")).unwrap()
    }

    fn metric(&self, name: &str) -> Option<f64> {
        let url = format!("http://127.0.0.1:{}/metrics", self.watched);
        let reply = Request::new("GET", &url.parse().unwrap()).send().ok()?;
        let metrics = String::from_utf8(reply.body).unwrap();
        let line = metrics.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    }
}

#[track_caller]
fn soon(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn an_instance_starts_without_its_authority_serves_with_the_certificate_that_it_gives_later_and_keeps_it()
 {
    let mut ordering = Ordering::new();
    let (code, printed) = ordering.checked();
    assert_eq!(code, 0, "{printed}");
    let up = ordering.start();
    assert!(
        ordering
            .complaints()
            .contains("there is no certificate yet")
    );
    soon(|| {
        ordering
            .metric("selfsame_acme_orders_total{outcome=\"failed\"}")
            .is_some()
    });
    let complaints = ordering.complaints();
    assert!(
        complaints.contains(HOST) && complaints.contains("unreachable"),
        "{complaints}"
    );
    assert_eq!(ordering.metric("selfsame_acme_hosts_waiting"), Some(1.0));

    ordering.authority.start();
    let authority = ordering.authority.authority();
    let port = ordering.port;
    soon(|| accepted(port, HOST, &authority).is_ok());
    let given = accepted(port, HOST, &authority).unwrap();
    let answer = answered(port, HOST, &authority, "/livez").unwrap();
    assert!(answer.contains("200"), "{answer}");
    soon(|| ordering.metric("selfsame_acme_hosts_waiting") == Some(0.0));
    let ends = format!("selfsame_certificate_expiry_seconds{{use=\"listener\",name=\"{HOST}\"}}");
    let ends = ordering.metric(&ends).unwrap();
    assert!((80_000.0..=86_400.0).contains(&ends), "{ends}");
    let url = format!("http://127.0.0.1:{}/livez?a=b", ordering.plain);
    let led = Request::new("GET", &url.parse().unwrap())
        .under(HOST)
        .send()
        .unwrap();
    let there = format!("https://{HOST}:{port}/livez?a=b");
    assert_eq!(
        (led.status, led.header("location")),
        (308, Some(there.as_str()))
    );

    drop(up);
    ordering.authority.stop();
    let _up = ordering.start();
    assert_eq!(accepted(port, HOST, &authority).unwrap(), given);
    let complaints = ordering.complaints();
    assert!(!complaints.contains("no certificate"), "{complaints}");
    for entry in std::fs::read_dir(ordering.at("data")).unwrap() {
        let Ok(content) = std::fs::read(entry.unwrap().path()) else {
            continue;
        };
        assert!(!String::from_utf8_lossy(&content).contains("PRIVATE KEY"));
    }
}

#[test]
fn settings_for_an_authority_are_judged_before_the_instance_starts() {
    let ordering = Ordering::new();
    for (lines, named) in [
        ("terms_agreed = false\n", "terms_agreed"),
        (
            "terms_agreed = true\nhosts = [\"*.clinic.example\"]\n",
            "hosts",
        ),
        ("terms_agreed = true\ncontact = [\"nobody\"]\n", "contact"),
        ("terms_agreed = true\nunknown = 1\n", "unknown"),
    ] {
        ordering.settle(lines);
        let (code, printed) = ordering.checked();
        assert_eq!(code, 1, "{printed}");
        assert!(printed.contains(named), "{named}: {printed}");
    }
    ordering.settle("terms_agreed = false\n");
    let mut command = selfsame();
    command.args(["up", "--no-demo", "--config"]);
    command.arg(ordering.at("settings.toml"));
    let (code, _, complaints) = run(command.arg("--data").arg(ordering.at("data")));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("terms_agreed"), "{complaints}");
    ordering.settle("terms_agreed = true\n");
    let mut command = selfsame();
    command.args(["up", "--no-demo", "--tls-self-made", "--config"]);
    command.arg(ordering.at("settings.toml"));
    let (code, _, complaints) = run(command.arg("--data").arg(ordering.at("data")));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("[tls.acme]"), "{complaints}");
}
