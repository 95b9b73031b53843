use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn record() -> impl Strategy<Value = MovedRecord> {
    let tags = vec(vec(any::<u8>(), 0..9), 0..4);
    (
        ".{0,9}",
        ".{0,9}",
        any::<u64>(),
        any::<Option<u64>>(),
        tags,
        any::<Vec<u8>>(),
    )
        .prop_map(|(kind, id, version, expires, tags, value)| {
            let tags: Vec<&[u8]> = tags.iter().map(Vec::as_slice).collect();
            MovedRecord {
                kind,
                id,
                version,
                expires: expires.map(UnixTime),
                tags: frame::join(&tags),
                value,
            }
        })
}

fn part() -> impl Strategy<Value = MovedPart> {
    let tenant = (any::<u64>(), any::<Vec<u8>>(), ".{0,9}", any::<Vec<u8>>());
    let tenant = tenant.prop_map(|(version, key, name, record)| MovedPart::Tenant {
        version,
        key,
        name,
        record,
    });
    let entry = (
        any::<[u64; 3]>(),
        any::<[u8; 16]>(),
        any::<u32>(),
        any::<Vec<u8>>(),
    );
    let entry = entry.prop_map(|([id, not_before, created], lane, attempts, sealed)| {
        MovedPart::Entry(MovedEntry {
            id,
            lane,
            not_before,
            attempts,
            created,
            sealed,
        })
    });
    let end = (any::<[u64; 4]>(), any::<[u8; 32]>()).prop_map(
        |([records, counters, entries, tails], sum)| {
            let sum = Sum::of(&sum).unwrap();
            MovedPart::End(MovedEnd {
                records,
                sum,
                counters,
                entries,
                tails,
            })
        },
    );
    let tails = (any::<Vec<u8>>(), any::<bool>());
    let tails = tails.prop_map(|(bytes, is_last)| MovedPart::Tails(MovedTails { bytes, is_last }));
    prop_oneof![
        tenant,
        record().prop_map(MovedPart::Record),
        (".{0,9}", any::<u64>()).prop_map(|(name, next)| MovedPart::Counter { name, next }),
        entry,
        tails,
        end,
    ]
}

#[test]
fn the_bytes_of_a_counter_are_always_these() {
    let part = MovedPart::Counter {
        name: "places".to_owned(),
        next: 1024,
    };
    let expected = b"\0\0\0\x07counter\0\0\0\x06places\0\0\0\x08\0\0\0\0\0\0\x04\0";
    assert_eq!(part.to_bytes().expose(), expected);
}

proptest! {
    #[test]
    fn a_part_reads_back(part in part()) {
        prop_assert_eq!(MovedPart::parse(part.to_bytes().expose()), Some(part));
    }

    #[test]
    fn other_bytes_are_refused_or_are_what_is_written(bytes: Vec<u8>, part in part(), at: prop::sample::Index) {
        let cut = part.to_bytes();
        let cut = &cut.expose()[..at.index(cut.expose().len())];
        prop_assert_eq!(MovedPart::parse(cut), None);
        if let Some(part) = MovedPart::parse(&bytes) {
            let written = part.to_bytes();
            prop_assert_eq!(written.expose(), &bytes[..]);
        }
    }
}
