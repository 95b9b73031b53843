//! Subjects: the identifiers by which clients know people (OpenID Connect Core §8).

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::seal::SealingKey;

use crate::relying_party::SubjectRule;

/// The subject of a person for a client: a keyed hash of the person's handle, and of the sector if the subject is
/// pairwise. Only the holder of the key can tell which subjects belong together.
#[must_use]
pub fn subject(rule: &SubjectRule, handle: &str, key: &SealingKey) -> String {
    let (purpose, sector) = match rule {
        SubjectRule::Public => (&b"public subject"[..], ""),
        SubjectRule::Pairwise { sector } => (&b"pairwise subject"[..], sector.as_str()),
    };
    let length = sector.len().to_be_bytes();
    let named = [&length[..], sector.as_bytes(), handle.as_bytes()].concat();
    base64url_encode(&key.derive(purpose).mac(&named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_sector_know_a_person_by_one_subject_and_others_by_another() {
        let key = SealingKey::from_bytes([1; 32]);
        let pairwise = |sector: &str, handle| {
            let sector = sector.to_owned();
            subject(&SubjectRule::Pairwise { sector }, handle, &key)
        };
        assert_eq!(pairwise("a.example", "p"), pairwise("a.example", "p"));
        assert_ne!(pairwise("a.example", "p"), pairwise("b.example", "p"));
        assert_ne!(pairwise("a", "bc"), pairwise("ab", "c"));
        assert_ne!(pairwise("", "p"), subject(&SubjectRule::Public, "p", &key));
    }
}
