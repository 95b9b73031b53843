//! Proofs of possession as a client makes them (RFC 9449 §4.2), and the nonces that servers want in them (§8, §9).

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::{Algorithm, KeyType, PublicKey, SecretString};
use serde_json::{Map, Value};
use url::Url;

use crate::dpop::TYPE;
use crate::error::{Code, ErrorBody};
use crate::metadata::ServerMetadata;

/// The algorithms that a client's fresh keys sign with, preferred first.
const PREFERRED: [Algorithm; 2] = [Algorithm::Es256, Algorithm::EdDsa];
/// The longest nonce that is sent back, in bytes.
const MAX_NONCE: usize = 1024;

/// The type of key to create for proofs at a server; `None` if it binds no tokens, or to keys of other types alone.
pub fn kind_of_key(server: &ServerMetadata) -> Option<KeyType> {
    let listed = &server.dpop_signing_alg_values_supported;
    let is_listed = |preferred: &Algorithm| {
        let mut algorithms = listed.iter().filter_map(|name| name.parse().ok());
        algorithms.any(|listed: Algorithm| listed == *preferred)
    };
    let found = PREFERRED.into_iter().find(is_listed);
    found.map(Algorithm::key_type)
}

/// The thumbprint of a key: `dpop_jkt` of an authorization request (RFC 9449 §10).
pub fn thumbprint(key: &PublicKey) -> String {
    base64url_encode(&key.thumbprint())
}

/// A request that a proof is made for.
#[derive(Clone, Copy, Debug)]
pub struct ProvenRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The URL; the proof has it without query and fragment.
    pub url: &'a Url,
    /// The access token that is sent along.
    pub access_token: Option<&'a SecretString>,
    /// The nonce that this server gave last.
    pub nonce: Option<&'a str>,
}

impl ProvenRequest<'_> {
    /// Drafts a proof by this key, of this moment. Each sending needs a proof of its own: a server takes a `jti` once.
    pub fn draft(&self, key: &PublicKey, ctx: &Ctx) -> Unsigned {
        let algorithm = key.key_type().default_algorithm();
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let header = [
            ("typ", Value::from(TYPE)),
            ("alg", Value::from(algorithm.as_str())),
        ];
        let mut header = object(header);
        header.insert("jwk".to_owned(), key.to_jwk().to_value());
        let claims = [
            ("jti", Some(Value::from(ctx.token("oauth/dpop")))),
            ("htm", Some(Value::from(self.method))),
            ("htu", Some(Value::from(String::from(url)))),
            ("iat", Some(Value::from(ctx.now().0))),
            ("ath", self.access_token.map(hash_of).map(Value::from)),
            ("nonce", self.nonce.map(Value::from)),
        ];
        let given = claims
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        Unsigned::new(&Value::Object(header), &Value::Object(object(given)))
    }
}

/// `ath`: the hash of an access token (RFC 9449 §4.2).
fn hash_of(token: &SecretString) -> String {
    base64url_encode(&sha256(token.expose().as_bytes()))
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    let members = members.into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What of an answer says whether a proof lacked a nonce.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredProof<'a> {
    /// The status code.
    pub status: u16,
    /// The header `WWW-Authenticate`.
    pub challenge: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

impl AnsweredProof<'_> {
    /// Whether the server refused the proof because it wants its nonce in it: an authorization server by the body (RFC
    /// 9449 §8), a resource by the challenge (§9). The request was not looked at.
    pub fn wants_nonce(&self) -> bool {
        let code = Code::UseDpopNonce.as_str();
        match self.status {
            400 => {
                let body = json::parse_as::<ErrorBody>(self.body, &Limits::default());
                body.is_ok_and(|body| body.error == code)
            }
            401 => self.challenge.is_some_and(|challenge| {
                let challenge = challenge.to_ascii_lowercase();
                challenge.contains("dpop") && challenge.contains(&format!("error=\"{code}\""))
            }),
            _ => false,
        }
    }
}

/// A nonce in an answer, if it has the form of one (RFC 9449 §8.1).
pub fn usable_nonce(given: Option<&str>) -> Option<&str> {
    given.filter(|nonce| {
        let is_allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        !nonce.is_empty() && nonce.len() <= MAX_NONCE && nonce.bytes().all(is_allowed)
    })
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::PrivateKey;
    use selfsame_crypto::seal::SealingKey;
    use selfsame_crypto::time::UnixTime;

    use super::*;
    use crate::dpop::{DpopNonces, DpopRequest, check};

    const NOW: UnixTime = UnixTime(10_000);

    fn ctx(seed: u8) -> Ctx {
        Ctx::new(NOW, [seed; 32])
    }

    fn proof(request: &ProvenRequest<'_>, key: &PrivateKey, seed: u8) -> String {
        let draft = request.draft(key.public(), &ctx(seed));
        let signature = key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    fn server(listed: &[&str]) -> ServerMetadata {
        let endpoint = Url::parse("https://op.example/token").unwrap();
        ServerMetadata {
            dpop_signing_alg_values_supported: listed.iter().map(|one| (*one).to_owned()).collect(),
            ..ServerMetadata::pre_authorized("https://op.example", endpoint)
        }
    }

    #[test]
    fn a_proof_holds_for_the_request_that_it_was_made_for_and_for_no_other() {
        let url = Url::parse("https://op.example/credential?a=b#c").unwrap();
        let other = Url::parse("https://op.example/other").unwrap();
        let token = SecretString::from("token".to_owned());
        let nonces = DpopNonces {
            key: SealingKey::from_bytes([1; 32]),
            lifetime: 60,
        };
        let nonce = nonces.make(&ctx(1));
        for kind in [KeyType::P256, KeyType::Ed25519] {
            let key = PrivateKey::generate(kind).unwrap();
            let request = ProvenRequest {
                method: "POST",
                url: &url,
                access_token: Some(&token),
                nonce: Some(&nonce),
            };
            let made = proof(&request, &key, 2);
            let asked = DpopRequest {
                method: "POST",
                url: &url,
                access_token: Some("token"),
                now: NOW,
                age: 60,
            };
            let proven = check(&made, &asked, Some(&nonces)).unwrap();
            assert_eq!(proven.thumbprint, thumbprint(key.public()));
            for wrong in [
                DpopRequest {
                    method: "GET",
                    ..asked
                },
                DpopRequest {
                    url: &other,
                    ..asked
                },
                DpopRequest {
                    access_token: Some("other"),
                    ..asked
                },
            ] {
                assert!(check(&made, &wrong, Some(&nonces)).is_err(), "{wrong:?}");
            }
            let later = check(&proof(&request, &key, 3), &asked, Some(&nonces)).unwrap();
            assert_ne!(later.spent.id, proven.spent.id);
        }
    }

    #[test]
    fn a_proof_says_nothing_of_a_token_or_nonce_that_there_is_not() {
        let url = Url::parse("https://op.example/token").unwrap();
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let request = ProvenRequest {
            method: "POST",
            url: &url,
            access_token: None,
            nonce: None,
        };
        let made = proof(&request, &key, 2);
        let jwt = crate::jwt::Jwt::parse(&made).unwrap();
        assert!(!jwt.claims().contains_key("ath") && !jwt.claims().contains_key("nonce"));
        assert_eq!(jwt.text("htu"), Some("https://op.example/token"));
    }

    #[test]
    fn a_key_is_of_a_type_that_the_server_lists() {
        assert_eq!(
            kind_of_key(&server(&["RS256", "EdDSA", "ES256"])),
            Some(KeyType::P256)
        );
        assert_eq!(kind_of_key(&server(&["Ed25519"])), Some(KeyType::Ed25519));
        assert_eq!(kind_of_key(&server(&["RS256", "none"])), None);
        assert_eq!(kind_of_key(&server(&[])), None);
    }

    #[test]
    fn a_nonce_is_wanted_by_the_body_of_a_server_or_the_challenge_of_a_resource() {
        let wants = |status, challenge, body: &str| {
            let body = body.as_bytes();
            AnsweredProof {
                status,
                challenge,
                body,
            }
            .wants_nonce()
        };
        let body = r#"{"error":"use_dpop_nonce"}"#;
        let challenge = Some(r#"DPoP error="use_dpop_nonce", algs="ES256""#);
        assert!(wants(400, None, body));
        assert!(wants(401, challenge, ""));
        assert!(!wants(400, None, r#"{"error":"invalid_dpop_proof"}"#));
        assert!(!wants(401, Some(r#"Bearer error="invalid_token""#), body));
        assert!(!wants(200, challenge, body));
        assert!(!wants(503, challenge, body));
    }

    #[test]
    fn a_nonce_that_no_header_can_hold_is_not_sent_back() {
        assert_eq!(usable_nonce(Some("abc~!")), Some("abc~!"));
        let long = "n".repeat(MAX_NONCE + 1);
        for bad in ["", "a b", "a\"b", "a\\b", "\u{e4}", &long] {
            assert_eq!(usable_nonce(Some(bad)), None, "{bad}");
        }
    }
}
