//! Starting: what `up` prints for programs, and how it recovers from a failed start or a lost token.

use std::fs::{Permissions, set_permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use crate::foreign::{Key, foreign_credential};
use crate::http::Api;
use crate::instance::{Instance, free_port};
use crate::rig::{post, run, selfsame, text, write_private};

/// A running `up`; dropping it stops it.
pub struct Up(pub Child);

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn up(data: &Path, arguments: &[&str]) -> Command {
    let mut command = selfsame();
    command.args(["up", "--json", "--data"]).arg(data);
    let listen = format!("127.0.0.1:{}", free_port());
    command.args(["--listen", &listen]).args(arguments);
    command
}

/// Starts an instance; returns the one line that it prints once it serves.
#[track_caller]
pub fn started(data: &Path, arguments: &[&str]) -> (Up, Value) {
    spoken(&mut up(data, arguments))
}

/// Runs a command; returns the one line that it prints once it serves.
#[track_caller]
pub fn spoken(command: &mut Command) -> (Up, Value) {
    let mut up = Up(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    let printed = up.0.stdout.as_mut().unwrap();
    BufReader::new(printed).read_line(&mut line).unwrap();
    let said = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    (up, said)
}

/// The instance's status for a request with this token.
fn answers(said: &Value, token: &str) -> u16 {
    let origin = Url::parse(&text(said, "origin")).unwrap();
    let reply = Api::new(&origin, token).send("GET", "/api/status", None);
    reply.unwrap().status
}

fn kept(said: &Value) -> String {
    std::fs::read_to_string(text(said, "operator_token_file")).unwrap()
}

#[test]
fn a_program_is_told_in_one_object_where_an_instance_serves_and_what_it_showed() {
    let folder = tempfile::tempdir().unwrap();
    let (_up, said) = started(&folder.path().join("data"), &[]);
    assert_eq!(said["demo"]["verdict"], "valid", "{said}");
    assert_eq!(said["demo"]["after_revocation"], "revoked", "{said}");
    assert_eq!(answers(&said, &kept(&said)), 200);
    let link = text(&said, "sign_in");
    assert!(link.starts_with(&text(&said, "origin")), "{link}");
    assert!(link.contains("/operator/sign-in?code="), "{link}");
    assert!(!link.contains(&kept(&said)), "{link}");
}

#[test]
fn the_first_scenario_is_played_on_fresh_data_or_when_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let played = |data: &Path, arguments: &[&str]| !started(data, arguments).1["demo"].is_null();
    assert!(played(&data, &[]));
    assert!(!played(&data, &[]), "the data have a credential");
    assert!(played(&data, &["--demo"]));
    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, "").unwrap();
    let configured = ["--config", settings.to_str().unwrap()];
    assert!(!played(&folder.path().join("configured"), &configured));
    let (code, _, complaints) = run(up(&data, &configured).arg("--demo"));
    assert_eq!(code, 2, "{complaints}");
}

#[test]
fn a_first_start_that_failed_is_made_good_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let settings = folder.path().join("settings.toml");
    let by = |method: &str| {
        std::fs::write(&settings, format!("[issuer]\ndid_method = \"{method}\"\n")).unwrap();
        settings.to_str().unwrap()
    };
    let arguments = ["--role", "issuer", "--config", by("selfsame")];
    let (code, printed, complaints) = run(&mut up(&data, &arguments));
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
    assert!(complaints.contains("hint: ") && complaints.contains("--registry"));
    let settings = by("web");
    let (_up, said) = started(&data, &["--role", "issuer", "--config", settings]);
    assert!(
        said["sign_in"].is_string() && said["demo"].is_null(),
        "{said}"
    );
    assert_eq!(answers(&said, &kept(&said)), 200);
}

fn status(said: &Value) -> Value {
    let origin = Url::parse(&text(said, "origin")).unwrap();
    let api = Api::new(&origin, &kept(said));
    api.send("GET", "/api/status", None).unwrap().json()
}

#[test]
fn an_issuer_and_a_verifier_start_alone_by_a_did_that_anybody_resolves() {
    for role in ["issuer", "verifier"] {
        let folder = tempfile::tempdir().unwrap();
        let (_up, said) = started(&folder.path().join("data"), &["--role", role]);
        let status = status(&said);
        assert!(text(&status, "did").starts_with("did:jwk:"), "{status}");
        assert_eq!(
            (&said["issues_to_few"], &status["issues_to_few"]),
            (&false.into(), &false.into())
        );
    }
}

#[test]
fn an_issuer_keeps_the_dids_that_it_began_with_whatever_the_settings_say_later() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    std::fs::write(&own, "[issuer]\nissuer_did = \"own\"\n").unwrap();
    let own: &[&str] = &["--no-demo", "--config", own.to_str().unwrap()];
    let portable: &[&str] = &["--no-demo"];
    for (first, second, methods) in [
        (own, portable, &["did:selfsame:"][..]),
        (portable, own, &["did:jwk:", "did:selfsame:"]),
    ] {
        let data = folder.path().join(methods.len().to_string());
        let issues_to_few = methods.len() == 1;
        let mut seen = Vec::new();
        for arguments in [first, second] {
            let (_up, said) = started(&data, arguments);
            assert_eq!(said["issues_to_few"], issues_to_few, "{said}");
            seen.push(status(&said)["issuer_dids"].clone());
        }
        let dids = seen[0].as_array().unwrap();
        assert_eq!((&seen[1], dids.len()), (&seen[0], methods.len()));
        for (did, method) in dids.iter().zip(methods) {
            assert!(did.as_str().unwrap().starts_with(method), "{did}");
        }
    }
}

#[test]
fn a_person_is_told_where_few_can_verify_what_is_issued() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    std::fs::write(&own, "[issuer]\nissuer_did = \"own\"\n").unwrap();
    for (arguments, is_told) in [
        (&["--config", own.to_str().unwrap()][..], true),
        (&[], false),
    ] {
        let mut command = selfsame();
        let data = folder.path().join(is_told.to_string());
        command.args(["up", "--no-demo", "--data"]).arg(data);
        let listen = format!("127.0.0.1:{}", free_port());
        command.args(["--listen", &listen]).args(arguments);
        let mut up = Up(command.stdout(Stdio::piped()).spawn().unwrap());
        let lines = BufReader::new(up.0.stdout.as_mut().unwrap()).lines();
        let told: Vec<String> = lines
            .map(Result::unwrap)
            .take_while(|line| !line.contains("Ctrl-C"))
            .collect();
        let few = "which can't be resolved without this registry";
        assert_eq!(
            told.iter().any(|line| line.contains(few)),
            is_told,
            "{told:?}"
        );
    }
}

#[test]
fn who_takes_the_token_away_gets_a_new_one_at_the_next_start_and_the_old_one_is_worth_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (first, said) = started(&data, &["--no-demo"]);
    let old = kept(&said);
    drop(first);
    let (second, said) = started(&data, &["--no-demo"]);
    assert_eq!(answers(&said, &old), 200);
    std::fs::remove_file(text(&said, "operator_token_file")).unwrap();
    drop(second);
    let (_third, said) = started(&data, &["--no-demo"]);
    assert_ne!(kept(&said), old);
    assert_eq!(answers(&said, &kept(&said)), 200);
    assert_eq!(answers(&said, &old), 401);
}

#[test]
fn data_whose_master_key_is_elsewhere_hold_no_token_and_no_key_that_a_thief_could_use() {
    let folder = tempfile::tempdir().unwrap();
    let (data, key) = (folder.path().join("data"), folder.path().join("key"));
    write_private(&key, &"ab".repeat(32));
    let master = ["--no-demo", "--tls-self-made", "--master-key-file"];
    let arguments = [&master[..], &[key.to_str().unwrap()]].concat();
    let (first, said) = started(&data, &arguments);
    assert!(said["operator_token_file"].is_null(), "{said}");
    let token = text(&said, "operator_token");
    drop(first);
    for file in files(&data) {
        let content = std::fs::read(&file).unwrap();
        let says = |secret: &str| {
            let mut windows = content.windows(secret.len());
            windows.any(|window| window == secret.as_bytes())
        };
        assert!(!says(&token) && !says("PRIVATE KEY"), "{}", file.display());
    }
    let (second, said) = started(&data, &arguments);
    assert!(said["operator_token"].is_null(), "it is told once: {said}");
    drop(second);
    let kept_at = folder.path().join("token");
    let elsewhere = ["--operator-token-file", kept_at.to_str().unwrap()];
    let (_third, said) = started(&data, &[&arguments[..], &elsewhere].concat());
    assert_eq!(text(&said, "operator_token_file"), elsewhere[1]);
    assert_ne!(
        kept(&said),
        token,
        "a file that is not there has a new token made"
    );
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

#[test]
fn a_token_file_that_is_empty_readable_by_others_or_of_other_data_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (first, said) = started(&data, &["--no-demo"]);
    let (right, file) = (kept(&said), data.join("operator-token"));
    drop(first);
    for wrong in ["", " \n", "somebody else's"] {
        write_private(&file, wrong);
        assert_hint(&mut up(&data, &[]), "remove the file");
    }
    std::fs::remove_file(&file).unwrap();
    // Written with default permissions, the file is readable by everyone.
    std::fs::write(&file, &right).unwrap();
    set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    assert_hint(&mut up(&data, &[]), "chmod 600");
    set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let (_second, said) = started(&data, &["--no-demo"]);
    assert_eq!(answers(&said, &right), 200, "nothing was changed by it");
    assert_eq!(answers(&said, ""), 401);

    let (key, listed) = (folder.path().join("key"), folder.path().join("registry"));
    std::fs::write(&key, "ab".repeat(32)).unwrap();
    write_private(&listed, "");
    set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    let other = folder.path().join("other");
    let key = ["--master-key-file", key.to_str().unwrap()];
    assert_hint(&mut up(&other, &key), "chmod 600");
    let origin = text(&said, "origin");
    let listed = listed.to_str().unwrap();
    let elsewhere = ["--registry", &origin, "--registry-token-file", listed];
    assert_hint(&mut up(&other, &elsewhere), "--registry-token-file");
}

#[test]
fn a_passphrase_that_is_empty_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for empty in ["", "  "] {
        let mut up = up(&data, &["--no-demo"]);
        assert_hint(up.env("SELFSAME_PASSPHRASE", empty), "unset");
    }
    assert!(!data.exists(), "nothing was made");
    let mut right = up(&data, &["--no-demo"]);
    spoken(right.env("SELFSAME_PASSPHRASE", "rain on the roof"));
    assert!(data.join("passphrase-salt").exists());
}

#[test]
fn a_master_key_is_of_a_file_or_of_a_passphrase() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut both = up(&data, &["--master-key-file", "/dev/null"]);
    both.env("SELFSAME_PASSPHRASE", "rain on the roof");
    assert_hint(&mut both, "unset SELFSAME_PASSPHRASE");
    assert!(!data.exists(), "nothing was made");
}

#[test]
fn a_file_that_is_damaged_within_starts_nothing_and_asks_for_a_copy() {
    for name in ["ledger.sqlite", "store.sqlite"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        drop(started(&data, &[]));
        for journal in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(data.join(format!("{name}{journal}")));
        }
        let file = data.join(name);
        let mut bytes = std::fs::read(&file).unwrap();
        let (_first_page, rest) = bytes.split_at_mut(4096);
        rest.fill(0x55);
        std::fs::write(&file, bytes).unwrap();
        assert_hint(&mut up(&data, &["--no-demo"]), "selfsame restore");
    }
}

#[test]
fn a_directory_that_somebody_else_uses_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("home");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("letter"), "").unwrap();
    set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    assert_hint(&mut up(&data, &[]), "an empty or new directory");
    let mode = data.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    std::fs::remove_file(data.join("letter")).unwrap();
    started(&data, &["--no-demo"]);
}

#[test]
fn an_instance_on_the_other_loopback_is_found_by_its_name() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The port is held on 127.0.0.1 too: `localhost` is both loopbacks, and no other instance may answer there.
    let listen = format!("[::1]:{}", free_port());
    let mut command = selfsame();
    command.args(["up", "--json", "--listen", &listen, "--data"]);
    let (_up, said) = spoken(command.arg(folder.path().join("data")));
    assert_eq!(said["demo"]["verdict"], "valid", "{said}");
    let mut status = selfsame();
    status.args(["status", "--instance", &text(&said, "origin")]);
    status.args(["--token-file", &text(&said, "operator_token_file")]);
    let (code, _, complaints) = run(&mut status);
    assert_eq!(code, 0, "{complaints}");
}

#[test]
fn a_network_of_validators_goes_with_all_roles_and_no_other_registry() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for role in ["issuer", "registry", "issuer,wallet,verifier,registry"] {
        let both = ["--validators", "4", "--role", role];
        assert_hint(&mut up(&data, &both), "leave out --role");
    }
    assert!(!data.exists(), "nothing was made");
}

#[test]
fn what_keeps_it_from_starting_is_the_environments_fault_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (running, said) = started(&data, &["--no-demo"]);
    let taken = Url::parse(&text(&said, "origin")).unwrap().port().unwrap();
    let taken = format!("127.0.0.1:{taken}");
    let mut elsewhere = selfsame();
    elsewhere
        .args(["up", "--data"])
        .arg(folder.path().join("other"));
    elsewhere.args(["--listen", &taken]);
    assert_hint(&mut elsewhere, "--listen");
    assert_hint(&mut up(&data, &[]), "--data");
    drop(running);

    let key = folder.path().join("another-key");
    write_private(&key, &"ab".repeat(32));
    let key = key.to_str().unwrap();
    assert_hint(
        &mut up(&data, &["--master-key-file", key]),
        "--master-key-file",
    );
    let file = folder.path().join("file");
    std::fs::write(&file, "no directory").unwrap();
    assert_hint(&mut up(&file, &[]), "--data");
    assert_hint(&mut up(Path::new("/proc/nowhere"), &[]), "--data");
    let absent = folder.path().join("absent");
    let absent = absent.to_str().unwrap();
    assert_hint(&mut up(&data, &["--config", absent]), "--config");
    let settings = folder.path().join("settings.toml");
    for wrong in ["vct_base = \"nope\"", "batch_size = 1000000000"] {
        std::fs::write(&settings, format!("[issuer]\n{wrong}\n")).unwrap();
        let config = ["--config", settings.to_str().unwrap()];
        let other = folder.path().join("other");
        let (code, _, complaints) = run(&mut up(&other, &config));
        assert_eq!(code, 2, "{complaints}");
        assert!(complaints.contains("[issuer]"), "{complaints}");
    }
    std::fs::write(&settings, "[registry]\nstandstill_s = 60\n").unwrap();
    let config = ["--config", settings.to_str().unwrap()];
    assert_hint(&mut up(&data, &config), "nodes");
    for wrong in ["x", "did:selfsame:…"] {
        assert_hint(&mut up(&data, &["--trust-issuer", wrong]), "the whole name");
    }
    let trusted = ["--trust-origin", "https://issuer.example/issuer"];
    assert_hint(&mut up(&data, &trusted), "host and port alone");
    let given = ["--tls-certificate", absent, "--tls-key", absent];
    assert_hint(&mut up(&data, &given), "--tls-certificate");
}

#[test]
fn an_origin_that_can_not_be_used_safely_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for origin in [
        "ftp://localhost/",
        "http://issuer.example/",
        "http://10.0.0.7:7380/",
    ] {
        assert_hint(&mut up(&data, &["--origin", origin]), "https");
    }
    for more in ["path", "?query", "#fragment"] {
        let origin = format!("https://issuer.example/{more}");
        assert_hint(&mut up(&data, &["--origin", &origin]), "--origin as");
    }
    let user = ["--origin", "https://user:password@issuer.example/"];
    let complaints = assert_hint(&mut up(&data, &user), "--origin as");
    assert!(!complaints.contains("password"), "{complaints}");
    let mut everywhere = selfsame();
    everywhere
        .args(["up", "--listen", "0.0.0.0:0", "--data"])
        .arg(&data);
    assert_hint(&mut everywhere, "--origin");
    let mut bare = selfsame();
    bare.args(["up", "--listen", "0.0.0.0:0", "--data"])
        .arg(&data)
        .args(["--origin", "https://issuer.example/"]);
    assert_hint(&mut bare, "a reverse proxy");
    let needless = ["--origin", "http://localhost:7380/", "--tls-self-made"];
    assert_hint(&mut up(&data, &needless), "https");
}

#[test]
fn an_https_origin_without_a_certificate_listens_on_loopback_for_a_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let mut command = selfsame();
    command.args(["up", "--json", "--no-demo", "--data"]);
    command.arg(folder.path().join("data"));
    command.args(["--listen", &listen, "--origin", "https://issuer.example/"]);
    let (_up, said) = spoken(&mut command);
    assert_eq!(said["origin"], "https://issuer.example/");
    let behind = Url::parse(&format!("http://{listen}/")).unwrap();
    let alive = Api::new(&behind, "").send("GET", "/livez", None).unwrap();
    assert_eq!(alive.status, 200);
}

#[test]
fn a_renewed_certificate_is_shown_after_a_hangup_and_an_unusable_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(at(name), made.cert.pem()).unwrap();
        std::fs::write(at("chain.pem"), made.cert.pem()).unwrap();
        write_private(&at("key.pem"), &made.signing_key.serialize_pem());
    };
    made("first.pem");
    let port = free_port();
    let mut command = selfsame();
    command.args(["up", "--json", "--no-demo", "--listen"]);
    command.arg(format!("127.0.0.1:{port}"));
    command.args(["--origin", &format!("https://localhost:{port}/")]);
    command.arg("--data").arg(at("data"));
    command.arg("--tls-certificate").arg(at("chain.pem"));
    command.arg("--tls-key").arg(at("key.pem"));
    let (up, said) = spoken(&mut command);
    let shows = |name: &str| {
        let mut status = selfsame();
        status.args(["status", "--instance", &text(&said, "origin")]);
        status.args(["--token-file", &text(&said, "operator_token_file")]);
        run(status.arg("--tls-root").arg(at(name))).0 == 0
    };
    let hang_up = || {
        let id = up.0.id().to_string();
        let told = Command::new("kill").args(["-HUP", &id]).status();
        assert!(told.unwrap().success());
    };
    assert!(shows("first.pem"));

    std::fs::write(at("chain.pem"), "half written").unwrap();
    hang_up();
    std::thread::sleep(Duration::from_secs(1));
    assert!(shows("first.pem"), "what was shown stays");

    made("second.pem");
    hang_up();
    let began = Instant::now();
    while !shows("second.pem") {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!shows("first.pem"));
}

#[test]
fn a_hangup_has_the_trusted_read_again_and_a_wrong_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.toml");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write("[trust]\nissuers = [\"did:web:a.example\"]\n");
    let data = folder.path().join("data");
    let port = free_port();
    let arguments = ["--config", file.to_str().unwrap()];
    let mut instance = Instance::start(&data, port, &arguments);
    instance.ready();
    let issuer = Key::new();
    let shown = json!({"credential": foreign_credential(&issuer, &Key::new(), &json!({}))});
    let outcome = || {
        let judged = post(&instance.operator(), "/api/verifier/verify", &shown);
        text(&judged, "outcome")
    };
    assert_eq!(outcome(), "untrusted");
    let told = |wanted: &str| {
        let id = instance.id().to_string();
        let told = Command::new("kill").args(["-HUP", &id]).status();
        assert!(told.unwrap().success());
        let began = Instant::now();
        while !instance.log().contains(wanted) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{}",
                instance.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let both = format!(
        "[trust]\nissuers = [\"did:web:a.example\", \"{}\"]\n",
        issuer.did()
    );
    write(&both);
    told("[trust] was read again: 2 issuers, 0 verifiers, 0 certificates");
    assert_eq!(outcome(), "valid");
    let stays = "the trusted parties stay unchanged: ";
    for (wrong, why) in [
        ("[trust]\nissuers = [\"nobody\"]\n", "`nobody` is not a DID"),
        ("[trust]\nissuer = []\n", "unknown field `issuer`"),
        ("[trust]\ncertificates = [\"absent.pem\"]\n", "absent.pem"),
    ] {
        write(wrong);
        told(why);
        let log = instance.log();
        let said = log.lines().find(|line| line.contains(stays));
        assert!(said.is_some(), "{log}");
    }
    assert_eq!(outcome(), "valid");
    write("[trust]\norigins = [\"http://localhost:1/\"]\n");
    told("0 certificates; changed origins take effect at the next start");
    assert_eq!(outcome(), "untrusted");
}

#[test]
fn a_hangup_ends_no_instance_that_has_nothing_to_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (up, said) = started(&folder.path().join("data"), &["--no-demo"]);
    let id = up.0.id().to_string();
    let told = Command::new("kill").args(["-HUP", &id]).status();
    assert!(told.unwrap().success());
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(answers(&said, &kept(&said)), 200);
}

#[track_caller]
fn assert_hint(command: &mut Command, what: &str) -> String {
    let (code, printed, complaints) = run(command);
    assert_eq!((code, printed.as_str()), (2, ""), "{complaints}");
    let hint = complaints.split_once("hint: ").map(|(_, hint)| hint);
    assert!(hint.is_some_and(|hint| hint.contains(what)), "{complaints}");
    complaints
}
