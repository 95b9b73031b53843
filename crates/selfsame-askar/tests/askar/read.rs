//! Reads whole wallets, and compares them with what Askar says.

use std::collections::BTreeMap;
use std::path::Path;

use selfsame_askar::{
    KeyEntry, RecordCursor, RecordKind, StoreKey, Unread, Wallet, WalletAddress, WalletError,
    WalletProfile, WalletRecord, record_hash,
};
use selfsame_crypto::encoding::{base64_decode, hex_encode};
use serde::Deserialize;

pub fn address(of: &str) -> WalletAddress {
    of.parse().unwrap()
}

pub fn file(path: &Path) -> WalletAddress {
    address(path.to_str().unwrap())
}

pub async fn open(address: &WalletAddress, key: &str) -> Result<Wallet, WalletError> {
    Wallet::open(address, StoreKey::text(key.into())).await
}

/// A record and the name of its profile.
#[derive(Clone, Debug, PartialEq)]
pub struct OfProfile {
    pub profile: String,
    pub record: WalletRecord,
}

/// All that a wallet gives.
#[derive(Debug, Default, PartialEq)]
pub struct Whole {
    pub records: Vec<OfProfile>,
    pub unread: Vec<Unread>,
}

/// All records of a wallet, each batch from the text of the cursor before.
pub async fn whole(wallet: &Wallet) -> Result<Whole, WalletError> {
    let mut whole = Whole::default();
    let mut page = wallet.profiles(None).await?;
    while !page.is_empty() {
        for profile in &page {
            read_profile(wallet, profile, &mut whole).await?;
        }
        page = wallet.profiles(page.last()).await?;
    }
    Ok(whole)
}

async fn read_profile(
    wallet: &Wallet,
    profile: &WalletProfile,
    whole: &mut Whole,
) -> Result<(), WalletError> {
    let mut after: Option<RecordCursor> = None;
    loop {
        let batch = wallet.batch(profile, after.as_ref()).await?;
        let bytes: usize = (batch.records.iter())
            .map(|record| record.value.expose().len())
            .sum();
        assert!(bytes <= 4 * 1024 * 1024 || batch.records.len() == 1);
        whole.unread.extend(batch.unread);
        whole
            .records
            .extend(batch.records.into_iter().map(|record| OfProfile {
                profile: profile.name().to_owned(),
                record,
            }));
        match batch.next {
            Some(next) => after = Some(next.to_string().parse().unwrap()),
            None => return Ok(()),
        }
    }
}

/// What Askar's own library says about a record: see wallets.py.
#[derive(Debug, Deserialize)]
pub struct Expected {
    pub profile: String,
    pub kind: u8,
    pub category: String,
    pub name: String,
    value: String,
    tags: Vec<ExpectedTag>,
    life: Option<u64>,
    hash: Option<String>,
}

/// The name, whether the value is in plaintext, and the value.
#[derive(Debug, Deserialize)]
struct ExpectedTag(String, bool, String);

/// Compares each record with what is expected, and that there are no others.
pub fn assert_equal(whole: &Whole, expected: &[Expected]) {
    assert_eq!(whole.unread, []);
    let mut read: BTreeMap<_, _> = (whole.records.iter())
        .map(|OfProfile { profile, record }| {
            let key = (
                profile.as_str(),
                record.kind as u8,
                record.category.as_str(),
                record.name.as_str(),
            );
            (key, record)
        })
        .collect();
    assert_eq!(read.len(), whole.records.len());
    for one in expected {
        let key = (
            one.profile.as_str(),
            one.kind,
            one.category.as_str(),
            one.name.as_str(),
        );
        let record = read.remove(&key);
        assert_one(record.unwrap_or_else(|| panic!("{key:?} is there")), one);
    }
    assert!(read.is_empty(), "{:?}", read.keys());
}

fn assert_one(record: &WalletRecord, expected: &Expected) {
    let name = &expected.name;
    let value = base64_decode(&expected.value).unwrap();
    assert!(record.value.expose() == value, "the value of {name}");
    let mut tags: Vec<_> = (record.tags.iter())
        .map(|tag| (tag.name.as_str(), tag.plaintext, tag.value.expose()))
        .collect();
    tags.sort_unstable();
    let listed = expected.tags.iter();
    let listed: Vec<_> = listed
        .map(|ExpectedTag(name, plaintext, value)| (name.as_str(), *plaintext, value.as_str()))
        .collect();
    assert_eq!(tags, listed, "the tags of {name}");
    assert_eq!(record.expiry.is_some(), expected.life.is_some(), "{name}");
    if let Some(hash) = &expected.hash {
        assert_eq!(&hex_encode(&record_hash(record)), hash, "{name}");
    }
    if record.kind == RecordKind::Key {
        assert_key(record);
    }
}

/// The keys in these wallets have their algorithm in their name.
fn assert_key(record: &WalletRecord) {
    let key = KeyEntry::of(record).unwrap().unwrap();
    let algorithm = key.algorithm.as_deref().unwrap();
    assert_eq!(record.name, format!("key {algorithm}"));
    let jwk: serde_json::Value =
        serde_json::from_slice(key.secret.as_ref().unwrap().expose()).unwrap();
    assert!(
        jwk["d"].is_string() || jwk["k"].is_string(),
        "it is private"
    );
    let metadata = (algorithm < "m").then(|| format!(r#"{{"did": "{algorithm}"}}"#));
    assert_eq!(key.metadata, metadata);
    assert_eq!(key.reference, None);
    assert_eq!(key.thumbprints.len(), 1);
    let names: Vec<&str> = key.tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
