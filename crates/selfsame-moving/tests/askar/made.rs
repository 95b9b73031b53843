//! Wallets that Askar makes now, in SQLite and PostgreSQL: `cargo xtask cross askar`.

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

/// Lets Askar make a wallet; returns how many records each of its profiles has.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells by the environment where Python is"
)]
fn made(address: &str, method: &str, key: &str) -> usize {
    let job = json!({"address": address, "method": method, "key": key, "content": "large"});
    let python = std::env::var("SELFSAME_ASKAR_PYTHON")
        .expect("where Python with Askar is: cargo xtask cross askar says so");
    let mut child = Command::new(python)
        .arg(SCRIPT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(job.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let first = said.iter().filter(|one| one["profile"] == "first");
    first.count()
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
