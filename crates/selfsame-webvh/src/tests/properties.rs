//! Properties of logs: no change of a byte is accepted with another meaning, and a reading can go on at any entry.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::kit::{Logbook, first, hash, key, multikey, now};

/// A log of four entries, with pre-rotation from the second on.
fn book() -> Logbook {
    let keys = [key(), key(), key()];
    let mut book = Logbook::new(&first(&keys[0]), &keys[0]);
    book.add(&json!({"nextKeyHashes": [hash(&keys[1])]}), &keys[0]);
    for (number, key) in keys.iter().enumerate().skip(1) {
        let next: Vec<String> = keys.get(number + 1).iter().map(|key| hash(key)).collect();
        let parameters = json!({"updateKeys": [multikey(key)], "nextKeyHashes": next});
        book.add(&parameters, key);
    }
    book
}

fn values(text: &[u8]) -> Vec<Option<Value>> {
    let lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).ok())
        .collect()
}

#[test]
fn every_change_of_one_bit_is_refused_or_has_no_meaning() {
    let book = book();
    let (text, log) = (book.text(), book.empty());
    assert!(log.read(&text, now()).fault().is_none());
    let meant = values(&text);
    let mut accepted = 0;
    for index in 0..text.len() {
        let mut changed = text.clone();
        changed[index] ^= 1 << (index % 7);
        if log.read(&changed, now()).fault().is_none() {
            // White space between tokens, and nothing else.
            assert_eq!(values(&changed), meant, "byte {index}");
            accepted += 1;
        }
    }
    assert!(accepted <= book.lines.len(), "{accepted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_other_byte_is_refused_or_has_no_meaning(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
    ) {
        let book = book();
        let text = book.text();
        let mut changed = text.clone();
        for (place, byte) in places {
            changed[place.index(text.len())] = byte;
        }
        let reading = book.empty().read(&changed, now());
        prop_assert!(reading.fault().is_some() || values(&changed) == values(&text));
        // What is kept of it is a beginning of the genuine log.
        let kept = values(reading.log().text());
        prop_assert_eq!(&kept[..], &values(&text)[..kept.len()]);
    }

    #[test]
    fn a_reading_goes_on_where_an_earlier_one_ended(cut in 0_usize..5) {
        let book = book();
        let whole = book.read();
        let part: String = book.lines.iter().take(cut).map(|line| format!("{line}\n")).collect();
        let first = book.empty().read(part.as_bytes(), now());
        let second = first.log().read(&book.text(), now());
        prop_assert!(second.fault().is_none());
        prop_assert_eq!(second.log().text(), whole.log().text());
        let ids = |reading: &crate::LogReading| -> Vec<String> {
            reading.log().versions().iter().map(|version| version.id.clone()).collect()
        };
        prop_assert_eq!(ids(&second), ids(&whole));
    }
}

#[test]
fn a_log_whose_beginning_changed_is_read_from_its_start() {
    let book = book();
    let log = book.read().log().clone();
    let mut other = book.clone();
    other.lines[0] = other.lines[0].replacen("assertionMethod", "authentication", 1);
    let reading = log.read(&other.text(), now());
    assert_eq!(reading.fault().map(|error| error.entry), Some(1));
    assert!(reading.log().versions().is_empty());
    // A line that was made longer is not the line that was verified.
    let mut longer = book.text();
    longer.pop();
    longer.extend_from_slice(b"x\n");
    let reading = log.read(&longer, now());
    assert_eq!(reading.fault().map(|error| error.entry), Some(4));
    // A log that became shorter is read as it is.
    let shorter = book.lines[..2].join("\n");
    let reading = log.read(shorter.as_bytes(), now());
    assert_eq!((reading.log().versions().len(), reading.fault()), (2, None));
}
