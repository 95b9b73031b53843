//! The numbers of what a book has. Each follows from a name, so that a rebuilt index gives the same numbers.

use selfsame_crypto::hash::sha256_parts;

use crate::facts::TopicKey;

/// The number of bits of a number: JSON readers keep whole numbers exactly up to 2⁵³ - 1.
const BITS: u32 = 52;

/// The number of a topic.
#[must_use]
pub fn topic(key: &TopicKey) -> i64 {
    number(&["topic", &key.kind, &key.source_id])
}

/// The number of a set of credentials that replace one another.
#[must_use]
pub fn credential_set(topic: &TopicKey, type_id: &str, cardinality: &str) -> i64 {
    number(&["set", &topic.kind, &topic.source_id, type_id, cardinality])
}

/// The number of a credential.
#[must_use]
pub fn credential(credential_id: &str) -> i64 {
    number(&["credential", credential_id])
}

/// The number of a credential type.
#[must_use]
pub fn credential_type(id: &str) -> i64 {
    number(&["type", id])
}

/// The number of an issuer.
#[must_use]
pub fn issuer(id: &str) -> i64 {
    number(&["issuer", id])
}

/// The number of a fact of a credential: its kind and its place among the facts of that kind.
#[must_use]
pub fn fact(credential_id: &str, kind: &str, place: usize) -> i64 {
    number(&["fact", credential_id, kind, &place.to_string()])
}

/// The first bits of the digest of these names. Each is written with its length, so that no two lists look alike.
fn number(names: &[&str]) -> i64 {
    let mut input = Vec::new();
    for name in names {
        input.extend_from_slice(&(name.len() as u64).to_be_bytes());
        input.extend_from_slice(name.as_bytes());
    }
    let digest = sha256_parts(&[b"selfsame-book", &input]);
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    let number = u64::from_be_bytes(first) >> (u64::BITS.saturating_sub(BITS));
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_json_and_do_not_depend_on_where_names_are_split() {
        let key = |kind: &str, source_id: &str| TopicKey {
            kind: kind.to_owned(),
            source_id: source_id.to_owned(),
        };
        assert_ne!(topic(&key("ab", "c")), topic(&key("a", "bc")));
        assert_eq!(topic(&key("a", "b")), topic(&key("a", "b")));
        for name in 0..1_000 {
            let number = credential(&name.to_string());
            assert!((0..1 << BITS).contains(&number));
        }
    }
}
