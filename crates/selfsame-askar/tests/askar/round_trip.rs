//! Whatever the format can hold is read as it was written.

use proptest::collection::vec;
use proptest::prelude::*;
use selfsame_askar::{Expiry, RecordKind, RecordTag, RecordTally, WalletRecord, record_hash};
use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::{Secret, SecretString};

use crate::read::{OfProfile, file, open, whole};
use crate::writer::Writer;

fn tags() -> impl Strategy<Value = Vec<RecordTag>> {
    let tag = (any::<String>(), any::<String>(), any::<bool>());
    let tag = tag.prop_map(|(name, value, plaintext)| RecordTag {
        name,
        value: SecretString::from(value),
        plaintext,
    });
    vec(tag, 0..5)
}

/// A record. The number makes its name unique.
fn record(number: usize) -> impl Strategy<Value = WalletRecord> {
    let kind = prop_oneof![Just(RecordKind::Item), Just(RecordKind::Key)];
    let names = (kind, "[a-c]{0,2}", any::<String>());
    // The years 1 to 9999.
    let expiry = (-62_135_596_800_i64..253_402_300_800, 0..1_000_000_000_u32);
    let expiry = expiry.prop_map(|(seconds, nanoseconds)| Expiry {
        seconds,
        nanoseconds,
    });
    let expiry = proptest::option::of(expiry);
    let content = (vec(any::<u8>(), 0..2000), tags(), expiry);
    (names, content).prop_map(
        move |((kind, category, name), (value, tags, expiry))| WalletRecord {
            kind,
            category,
            name: format!("{name}{number}"),
            value: Secret::new(value),
            tags,
            expiry,
        },
    )
}

fn records() -> impl Strategy<Value = Vec<WalletRecord>> {
    (0..12_usize).prop_flat_map(|count| (0..count).map(record).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_record_in_any_profile_is_read_as_it_was_written(profiles in vec((any::<String>(), records()), 0..4)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wallet.db");
        let writer = Writer::create(&path, [5; 32]);
        let mut written = Vec::new();
        for (number, (name, records)) in profiles.into_iter().enumerate() {
            let name = format!("{}{number}", name.replace('\0', ""));
            let profile = writer.profile(&name);
            for record in records {
                writer.write(&profile, &record);
                written.push(OfProfile { profile: name.clone(), record });
            }
        }
        drop(writer);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(async {
            let wallet = open(&file(&path), &base58_encode(&[5; 32])).await.unwrap();
            wallet.summary().await.unwrap();
            whole(&wallet).await.unwrap()
        });
        prop_assert!(read.unread.is_empty());
        let tally = |records: &[OfProfile]| {
            let mut tally = RecordTally::default();
            records.iter().for_each(|one| tally.add(record_hash(&one.record)));
            tally
        };
        prop_assert_eq!(tally(&read.records), tally(&written));
        for one in &written {
            prop_assert!(read.records.contains(one), "{:?}", one.record.name);
        }
        prop_assert_eq!(read.records.len(), written.len());
    }
}
