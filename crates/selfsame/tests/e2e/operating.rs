//! Operation: TLS with a self-signed or given certificate, and shutdown on a signal.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use crate::http::Api;
use crate::rig::{run, selfsame, text, write_private};
use crate::starting::{Up, started};

/// `selfsame status` of that instance.
fn status(said: &Value, root: Option<&Path>) -> (i32, String, String) {
    let mut command = selfsame();
    command.args(["status", "--json", "--instance", &text(said, "origin")]);
    command.args(["--token-file", &text(said, "operator_token_file")]);
    if let Some(root) = root {
        command.arg("--tls-root").arg(root);
    }
    run(&mut command)
}

#[test]
fn an_instance_serves_tls_with_a_certificate_of_its_own_or_a_given_one_and_walks_its_scenario_over_it()
 {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let (own, said) = started(&made, &["--tls-self-made"]);
    assert!(text(&said, "origin").starts_with("https://"), "{said}");
    assert_eq!(said["demo"]["after_revocation"], "revoked", "{said}");
    let (root, key) = (made.join("tls-certificate.pem"), folder.path().join("key"));
    assert!(!made.join("tls-key.pem").exists(), "it is sealed");
    std::fs::write(&key, "a key is no certificate").unwrap();
    let (code, printed, complaints) = status(&said, Some(&root));
    assert_eq!(code, 0, "{printed}{complaints}");
    let (code, _, complaints) = status(&said, None);
    assert_eq!(code, 2, "its certificate is not trusted: {complaints}");
    assert!(complaints.contains("--tls-root"), "{complaints}");
    let (code, _, complaints) = status(&said, Some(&key));
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("no certificate"), "{complaints}");
    drop(own);

    let signing = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&signing).unwrap().pem();
    let root = folder.path().join("given.pem");
    std::fs::write(&root, certificate).unwrap();
    write_private(&key, &signing.serialize_pem());
    let given = [
        "--tls-certificate",
        root.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ];
    let (_given, said) = started(&folder.path().join("given"), &given);
    assert_eq!(said["demo"]["verdict"], "valid", "{said}");
    assert_eq!(status(&said, Some(&root)).0, 0);
}

#[test]
fn an_instance_that_is_told_to_stop_ends_well_and_goes_on_with_the_same_data() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (mut up, said) = started(&data, &["--no-demo"]);
    let before = status(&said, None);
    assert_eq!(before.0, 0, "{}", before.2);
    assert!(stopped(&mut up), "it did not end well");
    assert_eq!(status(&said, None).0, 2, "it serves no more");
    let (_again, said) = started(&data, &["--no-demo"]);
    assert_eq!(status(&said, None).0, 0);
}

/// Whether it ends with success after SIGTERM.
fn stopped(up: &mut Up) -> bool {
    let id = up.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let began = Instant::now();
    loop {
        if let Some(status) = up.0.try_wait().unwrap() {
            return status.success();
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_link_from_the_command_line_makes_one_wallet_where_they_are_made_by_invitation() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    std::fs::write(
        &settings,
        "[wallet]\nregistration = \"invite\"\ncards_max = \"unlimited\"\n",
    )
    .unwrap();
    let config = ["--no-demo", "--config", settings.to_str().unwrap()];
    let (_up, said) = started(&folder.path().join("invites"), &config);
    let invite = |more: &[&str]| {
        let mut command = selfsame();
        command.args(["invite", "--instance", &text(&said, "origin")]);
        command.args(["--token-file", &text(&said, "operator_token_file")]);
        run(command.args(more))
    };
    let (code, link, complaints) = invite(&[]);
    assert_eq!(code, 0, "{complaints}");
    let page = format!("{}wallet/invited?token=", text(&said, "origin"));
    assert!(link.starts_with(&page), "{link}");
    let (code, made, complaints) = invite(&["--json"]);
    assert_eq!(code, 0, "{complaints}");
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made["expires_in"], 7 * 86_400);

    let origin = Url::parse(&text(&said, "origin")).unwrap();
    let register = |email: &str, invitation: &Value| {
        let account = json!({
            "email": email, "password": "not to be guessed", "invitation": invitation,
        });
        let anybody = Api::new(&origin, "");
        let reply = anybody.send("POST", "/api/wallet/register", Some(&account));
        reply.unwrap().status
    };
    let by_link = Value::from(link.trim().strip_prefix(&page).unwrap());
    assert_eq!(register("maja@example.org", &by_link), 201);
    assert_eq!(register("otto@example.org", &by_link), 403);
    assert_eq!(register("otto@example.org", &made["invitation"]), 201);
}

#[test]
fn where_anybody_makes_a_wallet_there_is_nothing_to_invite_to_and_a_quota_of_nothing_starts_nothing()
 {
    let folder = tempfile::tempdir().unwrap();
    let (_up, said) = started(&folder.path().join("open"), &["--no-demo"]);
    let mut command = selfsame();
    command.args(["invite", "--instance", &text(&said, "origin")]);
    command.args(["--token-file", &text(&said, "operator_token_file")]);
    let (code, _, complaints) = run(&mut command);
    assert_eq!(code, 1, "{complaints}");
    assert!(
        complaints.contains("registration = \"invite\""),
        "{complaints}"
    );

    let settings = folder.path().join("settings.toml");
    std::fs::write(&settings, "[wallet]\ncards_max = 0\n").unwrap();
    let mut command = selfsame();
    command
        .args(["up", "--data"])
        .arg(folder.path().join("none"));
    command.arg("--config").arg(&settings);
    let (code, _, complaints) = run(&mut command);
    assert_eq!(code, 2, "{complaints}");
    for said in ["cards_max", "0 is not above 0", "\"unlimited\""] {
        assert!(complaints.contains(said), "{complaints}");
    }
}
