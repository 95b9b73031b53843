//! What a wallet answers: requests for presentations by links and from pages.

use serde_json::Value;

use crate::HaipRule;
use crate::certified::is_chain;

/// The client identifier prefix of a verifier that signs by certificate (§5).
const X509_HASH: &str = "x509_hash";
/// The content encryptions that each verifier takes (§5).
const ENCRYPTIONS: [&str; 2] = ["A128GCM", "A256GCM"];

/// The way of a request to a wallet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RequestWay {
    /// It is in a link.
    #[default]
    Linked,
    /// It was fetched from the address in a link.
    Fetched,
    /// A browser brings it from a page, and says whose page that is (§5.2).
    Brought {
        /// Whether it is signed.
        is_signed: bool,
    },
}

/// An authenticated request.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestFacts<'a> {
    /// How it came.
    pub way: RequestWay,
    /// The client identifier prefix.
    pub prefix: &'a str,
    /// The certificates of its key (DER).
    pub x5c: &'a [Vec<u8>],
    /// The anchors that the wallet trusts for them (DER).
    pub anchors: &'a [Vec<u8>],
    /// Whether the answer is to be encrypted: the response mode is `direct_post.jwt` or `dc_api.jwt`.
    pub is_encrypted: bool,
    /// The verifier's keys, a JWK Set.
    pub jwks: Option<&'a Value>,
    /// `encrypted_response_enc_values_supported`.
    pub encryptions: &'a [String],
    /// Whether the profile has all formats of the query.
    pub are_profiled: bool,
}

impl RequestFacts<'_> {
    /// The first rule that the request breaks.
    #[must_use]
    pub fn broken(&self) -> Option<HaipRule> {
        let takes = |name: &str| self.encryptions.iter().any(|one| one == name);
        // §5.2: the origin says who asks by a request that is not signed.
        let is_unsigned = self.way == RequestWay::Brought { is_signed: false };
        let is_certified = is_unsigned || is_chain(self.x5c, self.anchors);
        let mode = match self.way {
            RequestWay::Linked | RequestWay::Fetched => HaipRule::RESPONSE_MODE,
            RequestWay::Brought { .. } => HaipRule::BROWSER_MODE,
        };
        let rules = [
            (
                is_unsigned || self.prefix == X509_HASH,
                HaipRule::SIGNED_BY_HASH,
            ),
            (self.way != RequestWay::Linked, HaipRule::REQUEST_REFERENCE),
            (is_certified, HaipRule::REQUEST_CHAIN),
            (self.is_encrypted, mode),
            (
                self.jwks.is_some_and(has_key),
                HaipRule::RESPONSE_ENCRYPTION,
            ),
            (
                ENCRYPTIONS.into_iter().all(takes),
                HaipRule::BOTH_ENCRYPTIONS,
            ),
            (self.are_profiled, HaipRule::FORMATS_ASKED),
        ];
        let mut rules = rules.into_iter();
        rules.find_map(|(is_kept, rule)| (!is_kept).then_some(rule))
    }
}

/// Whether one of these keys is for ECDH-ES on P-256.
fn has_key(jwks: &Value) -> bool {
    let keys = jwks.get("keys").and_then(Value::as_array);
    let says = |key: &Value, member: &str, value: &str| {
        key.get(member).and_then(Value::as_str) == Some(value)
    };
    keys.is_some_and(|keys| {
        keys.iter()
            .any(|key| says(key, "crv", "P-256") && says(key, "alg", "ECDH-ES"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample::Authority;

    #[test]
    fn a_request_by_the_profile_is_answered_and_each_other_one_is_refused_by_its_rule() {
        let authority = Authority::new("An authority");
        let anchors = [authority.certificate.clone()];
        let x5c = [authority.leaf("A verifier")];
        let with_anchor = [x5c[0].clone(), anchors[0].clone()];
        let jwks = json!({"keys": [{"kty": "EC", "crv": "P-256", "alg": "ECDH-ES", "kid": "1"}]});
        let other = json!({"keys": [{"kty": "OKP", "crv": "X25519", "alg": "ECDH-ES"}]});
        let both = ["A256GCM".to_owned(), "A128GCM".to_owned()];
        let right = RequestFacts {
            way: RequestWay::Fetched,
            prefix: "x509_hash",
            x5c: &x5c,
            anchors: &anchors,
            is_encrypted: true,
            jwks: Some(&jwks),
            encryptions: &both,
            are_profiled: true,
        };
        assert_eq!(right.broken(), None);
        let broken = |change: &dyn Fn(&mut RequestFacts<'_>)| {
            let mut facts = right;
            change(&mut facts);
            facts.broken().map(|rule| rule.name)
        };
        assert_eq!(
            broken(&|facts| facts.prefix = "x509_san_dns"),
            Some("signed_by_hash")
        );
        assert_eq!(
            broken(&|facts| facts.way = RequestWay::Linked),
            Some("request_reference")
        );
        assert_eq!(
            broken(&|facts| facts.is_encrypted = false),
            Some("response_mode")
        );
        assert_eq!(
            broken(&|facts| facts.jwks = None),
            Some("response_encryption")
        );
        assert_eq!(
            broken(&|facts| facts.encryptions = &[]),
            Some("both_encryptions")
        );
        assert_eq!(
            broken(&|facts| facts.are_profiled = false),
            Some("formats_asked")
        );
        for x5c in [&with_anchor[..], &anchors, &[]] {
            let facts = RequestFacts { x5c, ..right };
            assert_eq!(facts.broken(), Some(HaipRule::REQUEST_CHAIN));
        }
        let facts = RequestFacts {
            jwks: Some(&other),
            ..right
        };
        assert_eq!(facts.broken(), Some(HaipRule::RESPONSE_ENCRYPTION));
        let facts = RequestFacts {
            encryptions: &both[..1],
            ..right
        };
        assert_eq!(facts.broken(), Some(HaipRule::BOTH_ENCRYPTIONS));
    }

    #[test]
    fn a_page_asks_unsigned_or_by_certificate_and_its_answer_is_encrypted() {
        let authority = Authority::new("An authority");
        let x5c = [authority.leaf("A verifier")];
        let jwks = json!({"keys": [{"kty": "EC", "crv": "P-256", "alg": "ECDH-ES", "kid": "1"}]});
        let both = ["A256GCM".to_owned(), "A128GCM".to_owned()];
        let unsigned = RequestFacts {
            way: RequestWay::Brought { is_signed: false },
            prefix: "origin",
            is_encrypted: true,
            jwks: Some(&jwks),
            encryptions: &both,
            are_profiled: true,
            ..RequestFacts::default()
        };
        let signed = RequestFacts {
            way: RequestWay::Brought { is_signed: true },
            prefix: "x509_hash",
            x5c: &x5c,
            ..unsigned
        };
        for right in [unsigned, signed] {
            assert_eq!(right.broken(), None);
            let plain = RequestFacts {
                is_encrypted: false,
                ..right
            };
            assert_eq!(plain.broken(), Some(HaipRule::BROWSER_MODE));
            let other = RequestFacts {
                are_profiled: false,
                ..right
            };
            assert_eq!(other.broken(), Some(HaipRule::FORMATS_ASKED));
        }
        let by_did = RequestFacts {
            prefix: "decentralized_identifier",
            ..signed
        };
        assert_eq!(by_did.broken(), Some(HaipRule::SIGNED_BY_HASH));
        let bare = RequestFacts { x5c: &[], ..signed };
        assert_eq!(bare.broken(), Some(HaipRule::REQUEST_CHAIN));
    }
}
