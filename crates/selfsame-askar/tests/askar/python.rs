//! Wallets that Askar makes now, in SQLite and PostgreSQL, compared record by record: `cargo xtask cross askar`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use selfsame_askar::{StoreKey, Wallet, WalletError};
use serde_json::{Value, json};

use crate::read::{Expected, Whole, address, assert_equal, open, whole};
use crate::server::Server;
use crate::vectors::{PASSPHRASE, RAW, VECTORS, folder};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/askar/wallets.py");
const OTHER: &str = "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi";

/// Lets Askar make a wallet, and returns what it says is in it.
fn made(address: &str, method: &str, key: &str, content: &str) -> Vec<Expected> {
    let job = json!({"address": address, "method": method, "key": key, "content": content});
    serde_json::from_slice(&said(&job)).unwrap()
}

/// Lets Askar do a job, and returns what it says in JSON.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells by the environment where Python is"
)]
fn said(job: &Value) -> Vec<u8> {
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
    output.stdout
}

async fn read(at: &str, key: &str) -> Whole {
    whole(&open(&address(at), key).await.unwrap())
        .await
        .unwrap()
}

#[tokio::test]
#[ignore = "needs the Python package aries-askar"]
async fn a_file_with_a_raw_key_is_read_record_by_record_as_askar_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = format!("sqlite://{}/wallet.db", folder.path().display());
    let expected = made(&at, "raw", RAW, "large");
    assert!(expected.len() > 530);
    let wallet = open(&address(&at), RAW).await.unwrap();
    assert_eq!(wallet.default_profile(), Some("first"));
    assert_equal(&whole(&wallet).await.unwrap(), &expected);
    let summary = wallet.summary().await.unwrap();
    assert_eq!(summary.records, expected.len() as u64);
    assert_eq!((summary.profiles.len(), summary.unread), (2, 0));
    assert_eq!(summary.profiles[0].keys.len(), 15);
    assert_eq!(
        open(&address(&at), OTHER).await.err(),
        Some(WalletError::KeyWrong)
    );
}

#[tokio::test]
#[ignore = "needs the Python package aries-askar"]
async fn a_file_with_a_passphrase_is_read_at_both_costs() {
    let folder = tempfile::tempdir().unwrap();
    for (number, method) in ["kdf:argon2i:13:int", "kdf:argon2i:13:mod", "kdf:argon2i"]
        .iter()
        .enumerate()
    {
        let at = format!("sqlite://{}/{number}.db", folder.path().display());
        let expected = made(&at, method, PASSPHRASE, "small");
        assert_equal(&read(&at, PASSPHRASE).await, &expected);
        let wrong = open(&address(&at), "korrekt Pferd").await;
        assert_eq!(wrong.err(), Some(WalletError::KeyWrong));
    }
}

#[tokio::test]
#[ignore = "needs the Python package aries-askar"]
async fn a_file_that_nothing_protects_is_read_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let at = format!("sqlite://{}/wallet.db", folder.path().display());
    let expected = made(&at, "none", "", "small");
    let wallet = Wallet::open(&address(&at), StoreKey::none()).await.unwrap();
    assert_equal(&whole(&wallet).await.unwrap(), &expected);
}

#[tokio::test]
#[ignore = "needs the Python package aries-askar"]
async fn a_database_of_postgresql_is_read_record_by_record_as_askar_reads_it() {
    let server = Server::start();
    let at = server.address("wallet");
    let expected = made(&at, "raw", RAW, "large");
    let wallet = open(&address(&at), RAW).await.unwrap();
    assert_equal(&whole(&wallet).await.unwrap(), &expected);
    let summary = wallet.summary().await.unwrap();
    assert_eq!(
        (summary.records, summary.unread),
        (expected.len() as u64, 0)
    );
    let wrong = open(&address(&at), OTHER).await;
    assert_eq!(wrong.err(), Some(WalletError::KeyWrong));

    // What is written meanwhile is not part of the snapshot.
    server.run("wallet", "DELETE FROM items WHERE id % 2 = 0");
    assert_equal(&whole(&wallet).await.unwrap(), &expected);
    let later = open(&address(&at), RAW).await.unwrap();
    assert!(whole(&later).await.unwrap().records.len() < expected.len());

    let with_passphrase = format!("{}&schema=wallets", server.address("wallet"));
    let expected = made(&with_passphrase, "kdf:argon2i:13:int", PASSPHRASE, "small");
    assert_equal(&read(&with_passphrase, PASSPHRASE).await, &expected);
}

#[tokio::test]
#[ignore = "needs PostgreSQL"]
async fn what_is_no_wallet_in_postgresql_is_told_apart() {
    let server = Server::start();
    let no_database = open(&address(&server.address("none")), RAW).await.err();
    assert!(matches!(no_database, Some(WalletError::Unreachable(_))));
    let other = open(&address(&server.address("postgres")), RAW).await.err();
    assert!(matches!(other, Some(WalletError::Foreign(_))));
    server.run("postgres", "CREATE TABLE config (name text, value text)");
    server.run("postgres", "INSERT INTO config VALUES ('version', '2')");
    let newer = open(&address(&server.address("postgres")), RAW).await.err();
    assert!(matches!(newer, Some(WalletError::Unsupported(_))));
    let unreachable = open(&address("postgres://localhost:1/x"), RAW).await.err();
    assert!(matches!(unreachable, Some(WalletError::Unreachable(_))));
}

/// Makes the vectors anew. The keys in them are new ones each time, so nothing can be checked with it.
#[test]
#[ignore = "writes vectors/askar"]
fn write_the_vectors() {
    for vector in VECTORS {
        let path = folder().join(vector.file);
        let path = path.to_str().unwrap();
        let job = json!({
            "address": format!("sqlite://{path}"), "method": vector.method, "key": vector.key,
            "content": vector.content, "shrink": path,
        });
        std::fs::write(format!("{path}.json"), said(&job)).unwrap();
    }
}
