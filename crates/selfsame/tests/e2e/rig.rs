//! The steps that all tests share: start an instance, offer, accept, request, answer, read the verdict.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{Api, Reply};
use crate::instance::{Instance, free_port};

/// An instance with its own data.
pub struct World {
    folder: TempDir,
    pub instance: Instance,
    pub operator: Api,
}

impl World {
    /// A ready instance with everything in it.
    pub fn start(arguments: &[&str]) -> Self {
        Self::configured("", arguments)
    }

    /// An instance with a settings file.
    pub fn configured(settings: &str, arguments: &[&str]) -> Self {
        Self::prepared(arguments, |_, _| settings.to_owned())
    }

    /// An instance with settings for its port, and files beside them.
    pub fn prepared(arguments: &[&str], settings: impl FnOnce(&Path, u16) -> String) -> Self {
        Self::prepared_at("127.0.0.1", arguments, settings)
    }

    /// An instance on another address of this machine.
    pub fn prepared_at(
        listen: &str,
        arguments: &[&str],
        settings: impl FnOnce(&Path, u16) -> String,
    ) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, settings(folder.path(), port)).unwrap();
        let mut arguments = arguments.to_vec();
        arguments.extend(["--config", file.to_str().unwrap()]);
        let origin = format!("http://localhost:{port}");
        if listen != "127.0.0.1" {
            arguments.extend(["--origin", &origin]);
        }
        let data = folder.path().join("data");
        let mut instance = Instance::start_at(listen, &[], &data, port, &arguments);
        instance.ready();
        let operator = instance.operator();
        Self {
            folder,
            instance,
            operator,
        }
    }

    /// The API without a token.
    pub fn anybody(&self) -> Api {
        self.operator.with_token("")
    }

    /// The path of a file of the test.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All log lines with this message, oldest first.
    #[track_caller]
    pub fn logged(&self, message: &str) -> Vec<Value> {
        let log = self.instance.log();
        let lines = log.lines().map(|line| {
            serde_json::from_str::<Value>(line)
                .unwrap_or_else(|_| panic!("a line that is not structured: {line}"))
        });
        lines
            .filter(|line| line["fields"]["message"] == message)
            .collect()
    }

    /// A new person with a wallet.
    pub fn person(&self, name: &str) -> Api {
        person(&self.anybody(), name)
    }
}

/// A command against this instance.
pub fn command(world: &World, arguments: &[&str]) -> Command {
    let mut command = selfsame();
    command
        .args(arguments)
        .arg("--instance")
        .arg(world.instance.origin.as_str());
    command.arg("--token-file").arg(world.instance.token_file());
    command
}

/// The command, without arguments.
pub fn selfsame() -> Command {
    Command::new(env!("CARGO_BIN_EXE_selfsame"))
}

/// A new person with a wallet at that instance.
pub fn person(wallet: &Api, name: &str) -> Api {
    let who = json!({"email": format!("{name}@example.org"), "password": "correct horse battery"});
    let session = post(wallet, "/api/wallet/register", &who);
    wallet.with_token(&text(&session, "token"))
}

/// The answer to a POST that must succeed.
#[track_caller]
pub fn post(api: &Api, path: &str, body: &Value) -> Value {
    succeeded(path, &api.send("POST", path, Some(body)).unwrap())
}

/// The answer to a PUT that must succeed.
#[track_caller]
pub fn put(api: &Api, path: &str, body: &Value) -> Value {
    succeeded(path, &api.send("PUT", path, Some(body)).unwrap())
}

/// The answer to a GET that must succeed.
#[track_caller]
pub fn get(api: &Api, path: &str) -> Value {
    succeeded(path, &api.send("GET", path, None).unwrap())
}

#[track_caller]
pub fn succeeded(path: &str, reply: &Reply) -> Value {
    assert!(
        reply.is_success(),
        "{path}: {} {}",
        reply.status,
        String::from_utf8_lossy(&reply.body)
    );
    reply.json()
}

/// The answer to a POST that must be refused.
#[track_caller]
pub fn refused(api: &Api, path: &str, body: &Value) -> Reply {
    let reply = api.send("POST", path, Some(body)).unwrap();
    assert!(!reply.is_success(), "{path} took {body}");
    reply
}

#[track_caller]
pub fn text(value: &Value, name: &str) -> String {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("`{name}` is missing in {value}"))
        .to_owned()
}

#[track_caller]
pub fn items(value: &Value) -> &[Value] {
    value["items"]
        .as_array()
        .unwrap_or_else(|| panic!("no items in {value}"))
}

/// An offer for an immunization record with the type's examples.
pub fn offer(operator: &Api, changes: &Value) -> Value {
    let mut body = json!({"type": "immunization", "examples": true});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    post(operator, "/api/issuer/offers", &body)
}

/// Accepts an offer; returns its cards.
#[track_caller]
pub fn take(person: &Api, offer: &Value) -> Vec<Value> {
    let taken = post(
        person,
        "/api/wallet/offers/accept",
        &json!({"offer": offer["uri"]}),
    );
    items(&taken).to_vec()
}

/// The issuer's records of an offer's credentials.
pub fn issued(operator: &Api, offer: &Value) -> Vec<Value> {
    let listed = get(
        operator,
        &format!("/api/issuer/credentials?offer={}", text(offer, "id")),
    );
    items(&listed).to_vec()
}

/// Sets a credential's status.
pub fn set_status(operator: &Api, credential: &Value, status: &str) -> Value {
    let path = format!("/api/issuer/credentials/{}/status", text(credential, "id"));
    put(operator, &path, &json!({"status": status}))
}

/// Answers a verifier's request by the policy `newest`.
#[track_caller]
pub fn answer(person: &Api, asked: &Value) -> Value {
    post(
        person,
        "/api/wallet/requests/answer",
        &json!({"request": asked["uri"], "policy": "newest"}),
    )
}

/// The state of a request; waits until it is over.
#[track_caller]
pub fn verdict(verifier: &Api, asked: &Value) -> Value {
    get(
        verifier,
        &format!("/api/verifier/requests/{}?wait=20", text(asked, "id")),
    )
}

/// Verifies again until the outcome is as expected, for as long as publishing a changed list may take.
#[track_caller]
pub fn recheck_until(verifier: &Api, asked: &Value, outcome: &str) {
    let path = format!("/api/verifier/requests/{}/recheck", text(asked, "id"));
    let began = Instant::now();
    loop {
        let status = post(verifier, &path, &json!({}));
        if status["verdict"]["outcome"] == outcome {
            return;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "not {outcome}: {status}"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Runs a command; returns its exit code, standard output and standard error.
pub fn run(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        lossy(&output.stdout),
        lossy(&output.stderr),
    )
}

/// Writes a file that only its owner can read.
pub fn write_private(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Checks an OAuth error (RFC 6749 §5.2), which all endpoints of both protocols share.
#[track_caller]
pub fn assert_error(reply: &Reply, status: u16, code: &str) {
    let body = reply.json();
    let shown = String::from_utf8_lossy(&reply.body);
    assert_eq!(
        (reply.status, body["error"].as_str()),
        (status, Some(code)),
        "{shown}"
    );
    assert_eq!(
        reply.header("content-type"),
        Some("application/json"),
        "{shown}"
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{shown}");
    for name in body.as_object().unwrap().keys() {
        assert!(
            ["error", "error_description"].contains(&name.as_str()),
            "`{name}` is no member of an error"
        );
    }
}

/// Checks an error of the API (RFC 9457).
#[track_caller]
pub fn assert_problem(reply: &Reply, status: u16) {
    let body = reply.json();
    assert_eq!(
        reply.status,
        status,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    assert_eq!(
        reply.header("content-type"),
        Some("application/problem+json"),
        "{body}"
    );
    assert_eq!(body["status"], status);
    assert!(
        body["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty()),
        "{body}"
    );
}

/// Checks the challenge for a refused bearer token (RFC 6750 §3.1).
#[track_caller]
pub fn assert_challenge(reply: &Reply, code: &str) {
    let challenge = reply.header("www-authenticate").unwrap_or_default();
    assert!(
        challenge.starts_with("Bearer") && challenge.contains(&format!("error=\"{code}\"")),
        "{challenge}"
    );
}
