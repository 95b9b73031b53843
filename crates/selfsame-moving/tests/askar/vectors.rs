//! The small wallets that Askar made once.

use std::path::{Path, PathBuf};

use selfsame_askar::{StoreKey, Wallet, WalletAddress};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::keys;
use selfsame_moving::wallet::{KEPT, WalletImport, WalletReport};
use selfsame_store::{Page, Store, Tag, TenantId};

use crate::home::Home;

pub const RAW: &str = "2v337EK4aaxq26ex2B6JvDeZ8DSo1GnvjELyV6CqgZbM";
pub const PASSPHRASE: &str = "korrekt Pferd \u{2713}";

fn vector(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/askar")).join(name)
}

pub async fn opened(address: &str, key: &str) -> Wallet {
    let address: WalletAddress = address.parse().unwrap();
    let key = match key {
        "" => StoreKey::none(),
        key => StoreKey::text(key.into()),
    };
    Wallet::open(&address, key).await.unwrap()
}

/// Imports a profile into the organisation that every instance has.
pub async fn imported(store: &Store, wallet: &Wallet, profile: &str) -> WalletReport {
    let import = WalletImport::into(store, &OrganisationName::main()).await;
    let profile = wallet.profile(profile).await.unwrap();
    let report = import.unwrap().run(wallet, &profile, &|_, _| {}).await;
    report.unwrap()
}

/// The hash that `selfsame askar show` prints for a profile.
pub async fn shown(wallet: &Wallet, profile: &str) -> String {
    let summary = wallet.summary().await.unwrap();
    let named = summary.profiles.into_iter().find(|one| one.name == profile);
    named.unwrap().hash
}

pub fn issuer() -> TenantId {
    TenantId::parse("issuer").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_record_of_a_profile_is_kept_in_a_file_and_in_postgresql() {
    let wallet = opened(vector("raw.sqlite").to_str().unwrap(), RAW).await;
    for home in [Home::in_a_file(), Home::in_postgres()] {
        let store = home.open().await;
        let first = imported(&store, &wallet, "first").await;
        assert_eq!(first.hash, shown(&wallet, "first").await);
        let (new, already) = counts(&first);
        assert_eq!((first.records, new, already, first.unread), (21, 21, 0, 0));
        assert_eq!(first.keys.len(), 15);
        let usable: Vec<&str> = (first.keys.iter())
            .filter(|key| key.usable == 1)
            .map(|key| key.algorithm.as_str())
            .collect();
        assert_eq!(usable, ["ed25519", "p256"]);
        let second = imported(&store, &wallet, "zweite \u{2713}").await;
        assert_eq!(second.hash, shown(&wallet, "zweite \u{2713}").await);

        let again = imported(&store, &wallet, "first").await;
        assert_eq!(
            (again.hash, counts_of(&again.categories)),
            (first.hash, (0, 21))
        );
        let kept = store.weight(&issuer(), KEPT, 99).await.unwrap();
        assert_eq!(kept.records, 23);
        let keys = store.weight(&issuer(), keys::KIND, 99).await.unwrap();
        assert_eq!(keys.records, 2);
        let category = Tag::hashed("category", "note");
        let notes = store
            .find(&issuer(), KEPT, &category, &Page::first(99))
            .await;
        assert_eq!(notes.unwrap().len(), 5);
    }
}

fn counts(report: &WalletReport) -> (u64, u64) {
    counts_of(&report.categories)
}

fn counts_of(categories: &[selfsame_moving::wallet::CategoryReport]) -> (u64, u64) {
    let sum =
        |of: fn(&selfsame_moving::wallet::CategoryReport) -> u64| categories.iter().map(of).sum();
    (sum(|one| one.new), sum(|one| one.already))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wallets_with_a_passphrase_and_without_protection_come_in_too() {
    let store = Home::in_a_file().open().await;
    for (name, key) in [
        ("interactive.sqlite", PASSPHRASE),
        ("moderate.sqlite", PASSPHRASE),
        ("unprotected.sqlite", ""),
    ] {
        let wallet = opened(vector(name).to_str().unwrap(), key).await;
        let report = imported(&store, &wallet, "first").await;
        assert_eq!(report.hash, shown(&wallet, "first").await, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_and_no_value_of_a_record_can_be_read_in_the_file() {
    let wallet = opened(vector("raw.sqlite").to_str().unwrap(), RAW).await;
    let home = Home::in_a_file();
    imported(&home.open().await, &wallet, "first").await;
    let selfsame_moving::KeptIn::File(file) = &home.source.kept_in else {
        panic!("it is in a file");
    };
    for file in std::fs::read_dir(file.parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for secret in ["expiring", "without a name", "key ed25519", "cryptokey"] {
            let found = bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!found, "{secret}");
        }
    }
}
