//! Wallets that Askar makes now, and those that ACA-Py makes, in SQLite and PostgreSQL: `cargo xtask cross askar`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;
use crate::server::Server;
use crate::vectors::{PASSPHRASE, RAW, imported, opened, shown};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../selfsame-askar/tests/askar/wallets.py"
);
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/askar/agent.py");

/// Lets Askar make a wallet; returns how many records its first profile has.
fn made(address: &str, method: &str, key: &str) -> usize {
    let job = json!({"address": address, "method": method, "key": key, "content": "large"});
    let said = said("SELFSAME_ASKAR_PYTHON", SCRIPT, &job);
    let said = said.as_array().unwrap().iter();
    said.filter(|one| one["profile"] == "first").count()
}

/// Lets Python do a job, and returns what it says.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells by the environment where Python is"
)]
fn said(python: &str, script: &str, job: &Value) -> Value {
    let python = std::env::var(python)
        .expect("where Python with the packages is: cargo xtask cross askar says so");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(job.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Imports both profiles into both back ends.
async fn comes_in(address: &str, key: &str, records: usize) {
    let wallet = opened(address, key).await;
    for home in [Home::in_a_file(), Home::in_postgres()] {
        let store = home.open().await;
        for profile in ["first", "zweite \u{2713}"] {
            let report = imported(&store, &wallet, profile).await;
            assert_eq!(report.hash, shown(&wallet, profile).await);
            assert!(profile != "first" || report.records == records as u64);
            assert_eq!(report.unread, 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the Python package aries-askar"]
async fn a_file_with_a_raw_key_comes_in_record_by_record() {
    let folder = tempfile::tempdir().unwrap();
    let at = format!("sqlite://{}/wallet.db", folder.path().display());
    let records = made(&at, "raw", RAW);
    comes_in(&at, RAW, records).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the Python package aries-askar"]
async fn a_database_with_a_passphrase_comes_in_record_by_record() {
    let url = Server::shared().fresh();
    let (server, _) = url.rsplit_once('/').unwrap();
    let at = server.replace("postgres@", "postgres:unused@");
    let at = format!("{at}/wallet");
    let records = made(&at, "kdf:argon2i:13:int", PASSPHRASE);
    comes_in(&at, PASSPHRASE, records).await;
}

/// Lets ACA-Py make a wallet with this configuration, imports it from this address, and compares the categories.
async fn of_the_agent(config: Value, address: &str, key: &str) {
    let counts = said("SELFSAME_ACAPY_PYTHON", AGENT, &json!({"config": config}));
    assert_eq!(
        (&counts["connection"], &counts["credential"]),
        (&json!(40), &json!(1))
    );
    let wallet = opened(address, key).await;
    let profile = wallet.default_profile().unwrap().to_owned();
    for home in [Home::in_a_file(), Home::in_postgres()] {
        let store = home.open().await;
        let report = imported(&store, &wallet, &profile).await;
        assert_eq!(report.hash, shown(&wallet, &profile).await);
        let categories = report.categories.iter();
        let new: Value = categories
            .map(|one| (one.category.clone(), Value::from(one.new)))
            .collect();
        assert_eq!(new, counts);
        let usable = |name: &str| {
            let named = report.keys.iter().find(|key| key.algorithm == name);
            named.map(|key| (key.usable, key.kept))
        };
        assert_eq!(usable("ed25519"), Some((3, 0)));
        assert_eq!(usable("p256"), Some((1, 0)));
        assert_eq!(usable("x25519"), Some((0, 1)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the Python package acapy-agent"]
async fn a_wallet_of_an_agent_in_a_file_comes_in_category_by_category() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let config = json!({"name": name, "key": PASSPHRASE, "home": folder.path()});
    let at = format!(
        "sqlite://{}/.acapy_agent/wallet/{name}/sqlite.db",
        folder.path().display()
    );
    of_the_agent(config, &at, PASSPHRASE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the Python package acapy-agent"]
async fn a_wallet_of_an_agent_in_postgresql_comes_in_category_by_category() {
    let url = Server::shared().fresh();
    let host = url.split(['@', '/']).nth(3).unwrap();
    let config = json!({
        "name": "agent", "key": RAW, "key_derivation_method": "RAW",
        "storage_type": "postgres_storage",
        "storage_config": json!({"url": host}).to_string(),
        "storage_creds": json!({"account": "postgres", "password": "unused"}).to_string(),
    });
    let at = format!("postgres://postgres:unused@{host}/agent");
    of_the_agent(config, &at, RAW).await;
}
