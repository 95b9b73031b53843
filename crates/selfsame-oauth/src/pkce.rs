//! Proof key for code exchange (RFC 7636). The method `plain` is not accepted (RFC 9700 §2.1.1).

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::{ct_eq, sha256};
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};

/// The only method.
pub const S256: &str = "S256";
/// The lengths of a verifier, in characters (RFC 7636 §4.1).
const VERIFIER_LENGTHS: std::ops::RangeInclusive<usize> = 43..=128;

/// A code challenge: SHA-256 of the verifier that the client keeps.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CodeChallenge([u8; 32]);

impl CodeChallenge {
    /// The challenge of an authorization request.
    ///
    /// # Errors
    /// `invalid_request` for another method than `S256`, or a value that is no SHA-256 in base64url.
    pub fn parse(challenge: &str, method: Option<&str>) -> Result<Self, Error> {
        let refuse = |reason| Error::new(Code::InvalidRequest, reason);
        // RFC 7636 §4.3: an absent method is `plain`.
        if method != Some(S256) {
            return Err(refuse("code_challenge_method is not S256"));
        }
        let bytes = base64url_decode(challenge).ok();
        let bytes = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes
            .map(Self)
            .ok_or(refuse("code_challenge is not a SHA-256 in base64url"))
    }

    /// The challenge of this verifier.
    pub fn of(verifier: &str) -> Self {
        Self(sha256(verifier.as_bytes()))
    }

    /// The challenge as it is sent.
    pub fn to_text(self) -> String {
        base64url_encode(&self.0)
    }

    /// Whether this is the verifier of the challenge.
    pub fn is_met_by(&self, verifier: &str) -> bool {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        VERIFIER_LENGTHS.contains(&verifier.len())
            && verifier.bytes().all(allowed)
            && ct_eq(&Self::of(verifier).0, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7636 appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_example_of_the_specification_is_met() {
        let challenge = CodeChallenge::parse(CHALLENGE, Some(S256)).unwrap();
        assert!(challenge.is_met_by(VERIFIER));
        assert!(!challenge.is_met_by(&VERIFIER.replace('d', "e")));
    }

    #[test]
    fn the_method_plain_is_refused_by_name_and_by_default() {
        for method in [None, Some("plain"), Some("s256")] {
            let error = CodeChallenge::parse(CHALLENGE, method).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest);
        }
        assert!(CodeChallenge::parse(VERIFIER.get(1..).unwrap(), Some(S256)).is_err());
    }

    #[test]
    fn a_verifier_that_is_too_short_or_has_other_characters_meets_nothing() {
        for verifier in [
            "short".to_owned(),
            "a".repeat(129),
            format!("{}!", "a".repeat(43)),
        ] {
            assert!(!CodeChallenge::of(&verifier).is_met_by(&verifier));
        }
    }
}
