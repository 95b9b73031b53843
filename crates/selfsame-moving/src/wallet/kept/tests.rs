use proptest::collection::vec;
use proptest::prelude::*;
use selfsame_askar::record_hash;

use super::*;

fn record() -> impl Strategy<Value = WalletRecord> {
    let tag = (".{0,9}", ".{0,9}", any::<bool>()).prop_map(|(name, value, plaintext)| RecordTag {
        name,
        value: SecretString::new(value),
        plaintext,
    });
    let expiry = prop::option::of((any::<i64>(), any::<u32>()));
    let texts = [".{0,9}", ".{0,9}"];
    (
        any::<bool>(),
        texts,
        any::<Vec<u8>>(),
        vec(tag, 0..5),
        expiry,
    )
        .prop_map(
            |(is_key, [category, name], value, tags, expiry)| WalletRecord {
                kind: match is_key {
                    true => RecordKind::Key,
                    false => RecordKind::Item,
                },
                category,
                name,
                value: Secret::new(value),
                tags,
                expiry: expiry.map(|(seconds, nanoseconds)| Expiry {
                    seconds,
                    nanoseconds,
                }),
            },
        )
}

proptest! {
    #[test]
    fn a_record_reads_back_with_its_hash(profile in ".{0,9}", record in record()) {
        let bytes = KeptRecord::bytes(&profile, &record);
        let kept = KeptRecord::parse(bytes.expose()).unwrap();
        prop_assert_eq!(record_hash(&kept.record), record_hash(&record));
        prop_assert_eq!(kept, KeptRecord { profile, record });
    }

    #[test]
    fn other_bytes_are_refused_or_are_what_is_written(bytes: Vec<u8>, record in record(), at: prop::sample::Index) {
        let cut = KeptRecord::bytes("first", &record);
        let cut = &cut.expose()[..at.index(cut.expose().len())];
        prop_assert_eq!(KeptRecord::parse(cut), None);
        if let Some(kept) = KeptRecord::parse(&bytes) {
            let written = KeptRecord::bytes(&kept.profile, &kept.record);
            prop_assert_eq!(written.expose(), &bytes[..]);
        }
    }
}
