//! `selfsame askar show` on wallets that Askar made: what it shows, what it never shows, and how it ends.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const RAW: &str = "2v337EK4aaxq26ex2B6JvDeZ8DSo1GnvjELyV6CqgZbM";

struct Shown {
    output: String,
    errors: String,
    code: Option<i32>,
}

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors/askar")
        .join(name)
}

fn show(wallet: &Path, key: Option<&str>, further: &[&str]) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    command.args(["askar", "show"]).arg(wallet).args(further);
    if let Some(key) = key {
        let file = folder.path().join("wallet.key");
        fs::write(&file, format!("{key}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        command.arg("--key-file").arg(file);
    }
    let output = command.output().unwrap();
    Shown {
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

#[test]
fn a_wallet_is_shown_by_profiles_counts_and_hashes() {
    let shown = show(&vector("raw.sqlite"), Some(RAW), &[]);
    assert_eq!(shown.code, Some(0), "{}", shown.errors);
    let lines: Vec<&str> = shown.output.lines().collect();
    assert_eq!(lines[0], "protected by a raw key");
    assert!(lines[1].starts_with("profile first (default): 21 records, hash "));
    for line in [
        "         5  note",
        "         1  nöte ✓",
        "         1  keys of bls12381g2",
        "         2  of these with an expiry",
    ] {
        assert!(lines.contains(&line), "{line}: {}", shown.output);
    }
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("profile zweite ✓: 2 records, hash "))
    );
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("23 records in 2 profiles, hash ")
    );
}

#[test]
fn no_value_no_name_no_tag_and_no_key_is_shown() {
    let said = fs::read(vector("raw.sqlite.json")).unwrap();
    let said: Vec<Value> = serde_json::from_slice(&said).unwrap();
    for further in [&[][..], &["--json"]] {
        let shown = show(&vector("raw.sqlite"), Some(RAW), further).output;
        assert!(!shown.contains(RAW));
        for secret in [
            "without a name",
            "gone",
            "binary",
            "megabyte",
            "did",
            "grün",
            "\"d\"",
        ] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
        for record in &said {
            let hash = record["hash"].as_str();
            assert!(!hash.is_some_and(|hash| shown.contains(hash)));
        }
    }
}

#[test]
fn a_program_gets_the_same_as_one_object() {
    let shown = show(&vector("unprotected.sqlite"), None, &["--json"]);
    let shown: Value = serde_json::from_str(&shown.output).unwrap();
    assert_eq!(shown["protection"], "nothing");
    assert_eq!(shown["records"], 2);
    assert_eq!(shown["profiles"][0]["categories"]["credential"], 1);
    assert_eq!(shown["hash"].as_str().map(str::len), Some(64));
}

#[test]
fn a_passphrase_opens_a_wallet_and_another_one_is_told() {
    let wallet = vector("interactive.sqlite");
    let shown = show(&wallet, Some("korrekt Pferd ✓"), &[]);
    assert_eq!(shown.code, Some(0), "{}", shown.errors);
    let wrong = show(&wallet, Some("korrekt Pferd"), &[]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.errors.contains("the key does not open this wallet"));
    let none = show(&wallet, None, &[]);
    assert!(none.errors.contains("--key-file"), "{}", none.errors);
    let foreign = show(&vector("README.md"), None, &[]);
    assert!(foreign.errors.contains("not a wallet of Askar"));
    assert_eq!(foreign.code, Some(2));
}

/// A data directory with the records of an instance that was started once, and nothing else.
async fn started_once(data: &Path) {
    use selfsame_crypto::seal::SealingKey;
    use selfsame_store::{Sqlite, Store, Vault};
    let key = data.join("master-key");
    fs::write(&key, "07".repeat(32)).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let records = Sqlite::open(data.join("store.sqlite")).unwrap();
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    Store::open(std::sync::Arc::new(records), vault)
        .await
        .unwrap();
}

fn import(data: &Path, further: &[&str]) -> Shown {
    let key = data.join("wallet.key");
    fs::write(&key, RAW).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    command.args(["askar", "import"]).arg(vector("raw.sqlite"));
    command.arg("--key-file").arg(&key).arg("--data").arg(data);
    let output = command.args(further).output().unwrap();
    Shown {
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

#[tokio::test]
async fn a_profile_is_imported_with_the_hash_that_is_shown_and_again_without_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    started_once(data).await;
    let shown = show(&vector("raw.sqlite"), Some(RAW), &["--json"]);
    let shown: Value = serde_json::from_str(&shown.output).unwrap();
    let imported = import(data, &["--into", "main"]);
    assert_eq!(imported.code, Some(0), "{}", imported.errors);
    let hash = shown["profiles"][0]["hash"].as_str().unwrap();
    assert!(imported.output.contains(hash), "{}", imported.output);
    for line in [
        "         5  note",
        "         1  keys of ed25519 that sign here",
        "         1  keys of x25519: 0 that sign here, 1 without a counterpart yet",
    ] {
        let mut lines = imported.output.lines();
        assert!(lines.any(|one| one == line), "{line}: {}", imported.output);
    }
    let again = import(data, &["--into", "main", "--json"]);
    let again: Value = serde_json::from_str(&again.output).unwrap();
    assert_eq!(
        (again["records"].as_u64(), again["hash"].as_str()),
        (Some(21), Some(hash))
    );
    let new = again["categories"].as_array().unwrap().iter();
    assert_eq!(new.filter_map(|one| one["new"].as_u64()).sum::<u64>(), 0);
}

#[tokio::test]
async fn another_profile_organisation_or_directory_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let nothing = import(data, &["--into", "main"]);
    assert!(
        nothing.code == Some(2) && nothing.errors.contains("--data"),
        "{}",
        nothing.errors
    );
    started_once(data).await;
    let unknown = import(data, &["--into", "acme"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.errors);
    let unknown = import(data, &["--into", "main", "--profile", "third"]);
    assert!(
        unknown.errors.contains("selfsame askar show"),
        "{}",
        unknown.errors
    );
}
