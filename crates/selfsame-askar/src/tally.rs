//! Hashes over records, with which an import is proven: one for each, and one for any number of them.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::Sha256;

use crate::record::{RecordTag, WalletRecord};

/// Which hash this is. A change of what is hashed changes it.
const RECORD: &[u8] = b"selfsame askar record 1\n";
const PROFILE: &[u8] = b"selfsame askar profile 1\n";

/// The hash of a record: SHA-256 over the line `selfsame askar record 1`, the kind as one byte, the category, the name
/// and the value, the expiry, and the tags.
///
/// Texts and bytes have their length before them, and numbers are of 8 bytes with the highest first. The expiry is a
/// byte 0, or a byte 1 and the microseconds from 1970. The tags are their number and then each of them, ordered by
/// name, value and storage: the byte 1 if the value is stored as it is, otherwise 0; the name; the value.
pub fn record_hash(record: &WalletRecord) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(RECORD);
    hash.update(&[record.kind as u8]);
    counted(&mut hash, record.category.as_bytes());
    counted(&mut hash, record.name.as_bytes());
    counted(&mut hash, record.value.expose());
    match record.expiry {
        None => hash.update(&[0]),
        Some(expiry) => {
            let microseconds = i64::from(expiry.nanoseconds / 1000);
            let whole = expiry.seconds.saturating_mul(1_000_000);
            hash.update(&[1]);
            hash.update(&whole.saturating_add(microseconds).to_be_bytes());
        }
    }
    let mut tags: Vec<&RecordTag> = record.tags.iter().collect();
    tags.sort_by_key(|tag| (tag.name.as_str(), tag.value.expose(), tag.plaintext));
    number(&mut hash, tags.len());
    for tag in tags {
        hash.update(&[u8::from(tag.plaintext)]);
        counted(&mut hash, tag.name.as_bytes());
        counted(&mut hash, tag.value.expose().as_bytes());
    }
    hash.finish()
}

fn counted(hash: &mut Sha256, bytes: &[u8]) {
    number(hash, bytes.len());
    hash.update(bytes);
}

fn number(hash: &mut Sha256, number: usize) {
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    hash.update(&number.to_be_bytes());
}

/// The number of records, and the sum of their hashes modulo 2²⁵⁶, which does not depend on their order. It reveals
/// records that were lost or changed by mistake. It does not reveal records that were forged to have an equal sum; for
/// that, compare the hash of each record.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RecordTally {
    /// The number of records.
    pub count: u64,
    sum: [u8; 32],
}

impl RecordTally {
    /// Adds a record by its hash.
    pub fn add(&mut self, hash: [u8; 32]) {
        self.count = self.count.saturating_add(1);
        self.plus(hash);
    }

    /// Adds the records of a profile: SHA-256 over the line `selfsame askar profile 1`, its name, their number and the
    /// sum of their hashes.
    pub fn add_profile(&mut self, name: &str, records: &Self) {
        let mut hash = Sha256::new();
        hash.update(PROFILE);
        counted(&mut hash, name.as_bytes());
        hash.update(&records.count.to_be_bytes());
        hash.update(&records.sum);
        self.count = self.count.saturating_add(records.count);
        self.plus(hash.finish());
    }

    fn plus(&mut self, hash: [u8; 32]) {
        let mut carry = 0;
        for (to, from) in self.sum.iter_mut().zip(hash).rev() {
            let sum = u16::from(*to).saturating_add(u16::from(from));
            let [high, low] = sum.saturating_add(carry).to_be_bytes();
            (*to, carry) = (low, u16::from(high));
        }
    }

    /// The sum in hexadecimal digits.
    pub fn hex(&self) -> String {
        hex_encode(&self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expiry, RecordKind};
    use selfsame_crypto::{Secret, SecretString};

    fn record() -> WalletRecord {
        let tag = |name: &str, value: &str, plaintext| RecordTag {
            name: name.to_owned(),
            value: SecretString::from(value),
            plaintext,
        };
        WalletRecord {
            kind: RecordKind::Item,
            category: "connection".to_owned(),
            name: "one".to_owned(),
            value: Secret::new(b"value".to_vec()),
            tags: vec![tag("b", "2", true), tag("a", "1", false)],
            expiry: None,
        }
    }

    #[test]
    fn the_hash_of_a_record_is_always_this_one() {
        let expected = "4ef3b41d896da65ab0cb1e3a664b448e559fdb7285099e2abe889544306c6bca";
        assert_eq!(hex_encode(&record_hash(&record())), expected);
    }

    #[test]
    fn each_part_of_a_record_changes_its_hash_and_the_order_of_its_tags_does_not() {
        let hash = record_hash(&record());
        let mut reordered = record();
        reordered.tags.reverse();
        assert_eq!(record_hash(&reordered), hash);
        let changes: [fn(&mut WalletRecord); 9] = [
            |one| one.kind = RecordKind::Key,
            |one| one.category.push('s'),
            |one| one.name.insert(0, 'n'),
            |one| one.value = Secret::new(Vec::new()),
            |one| one.tags.truncate(1),
            |one| one.tags[0].plaintext = false,
            |one| one.tags[0].value = SecretString::from("3"),
            |one| one.tags[0].name.push('c'),
            |one| {
                one.expiry = Some(Expiry {
                    seconds: 0,
                    nanoseconds: 0,
                });
            },
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut changed = record();
            change(&mut changed);
            assert_ne!(record_hash(&changed), hash, "{number}");
        }
        let moved = |category: &str, name: &str| {
            let (category, name) = (category.to_owned(), name.to_owned());
            record_hash(&WalletRecord {
                category,
                name,
                ..record()
            })
        };
        assert_ne!(moved("ab", "c"), moved("a", "bc"));
    }

    #[test]
    fn a_tally_does_not_depend_on_the_order_and_counts_what_is_there_twice() {
        let hashes = [[0xff; 32], [0x80; 32], [1; 32]];
        let tally = |order: &[usize]| {
            let mut tally = RecordTally::default();
            for at in order {
                tally.add(hashes[*at]);
            }
            tally
        };
        assert_eq!(tally(&[0, 1, 2]), tally(&[2, 0, 1]));
        assert_ne!(tally(&[0, 1, 2]), tally(&[0, 1]));
        assert_ne!(tally(&[0, 1, 1]).sum, tally(&[0, 1]).sum);
        let mut one = RecordTally::default();
        one.add([0xff; 32]);
        one.add({
            let mut one = [0; 32];
            one[31] = 1;
            one
        });
        assert_eq!((one.count, one.hex()), (2, "0".repeat(64)));
    }

    #[test]
    fn a_record_that_moves_to_another_profile_changes_the_sum_of_all() {
        let mut records = RecordTally::default();
        records.add([1; 32]);
        let total = |first: &RecordTally, second: &RecordTally| {
            let mut total = RecordTally::default();
            total.add_profile("first", first);
            total.add_profile("second", second);
            total
        };
        let none = RecordTally::default();
        assert_ne!(total(&records, &none).sum, total(&none, &records).sum);
        assert_eq!(total(&records, &none).count, 1);
    }
}
