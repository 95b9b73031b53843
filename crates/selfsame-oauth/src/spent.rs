//! Identifiers that count once: those of assertions, proofs and request objects.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;

/// An identifier that was used, and must not be accepted again.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SpentId {
    /// The id of the record that says so.
    pub id: String,
    /// The time from which the record is no longer needed.
    pub expires: UnixTime,
}

impl SpentId {
    /// The `jti` of a token by this sender, for this purpose. Two senders may use one `jti`.
    pub fn of(purpose: &str, sender: &str, jti: &str, expires: UnixTime) -> Self {
        let (purposes, senders) = (purpose.len().to_be_bytes(), sender.len().to_be_bytes());
        let lengths = [purposes, senders].concat();
        let digest = sha256_parts(&[
            &lengths,
            purpose.as_bytes(),
            sender.as_bytes(),
            jti.as_bytes(),
        ]);
        Self {
            id: base64url_encode(&digest),
            expires,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_jti_of_another_sender_or_for_another_purpose_is_another_identifier() {
        let of = |purpose, sender, jti| SpentId::of(purpose, sender, jti, UnixTime(1)).id;
        assert_eq!(of("a", "b", "c"), of("a", "b", "c"));
        for other in [
            of("a", "bc", ""),
            of("ab", "", "c"),
            of("b", "b", "c"),
            of("a", "c", "c"),
        ] {
            assert_ne!(other, of("a", "b", "c"));
        }
    }
}
