//! What ties messages to one flow: identifiers in addresses, and secrets that one message gives and a later one brings.
//! Only their digests are kept.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::sha256_parts;
use serde_json::Value;

use crate::bodies::pairs;

/// Members whose values are given in one message and brought in a later one.
const LINKS: [&str; 9] = [
    "access_token",
    "auth_session",
    "c_nonce",
    "code",
    "notification_id",
    "pre-authorized_code",
    "refresh_token",
    "request_uri",
    "transaction_id",
];
/// The longest body that is searched for them, in bytes.
const SEARCHED_MAX: usize = 256 * 1024;
/// How deep bodies are searched.
const DEPTH_MAX: usize = 8;
/// Links of one exchange.
const LINKS_MAX: usize = 16;
/// A shorter value may occur in several flows.
const LENGTH_MIN: usize = 16;

/// The digest of what ties messages together.
pub(crate) type WireLink = String;

/// The links that were found in a request and its answer.
#[derive(Default)]
pub(crate) struct FoundLinks {
    pub links: Vec<WireLink>,
}

impl FoundLinks {
    /// The identifier of a flow of a kind.
    pub fn id(&mut self, kind: &str, id: &str) {
        self.add(of_id(kind, id));
    }

    /// A secret.
    pub fn secret(&mut self, secret: &str) {
        if secret.len() >= LENGTH_MIN {
            self.add(digest("secret", secret));
        }
    }

    /// The parameters of a form or of a query.
    pub fn parameters(&mut self, text: &str) {
        for (name, value) in pairs(text) {
            if LINKS.contains(&&*name) {
                self.secret(&value);
            }
        }
    }

    /// A body.
    pub fn body(&mut self, body: &[u8], media: &str) {
        if body.len() > SEARCHED_MAX {
            return;
        }
        let kind = media.split(';').next().unwrap_or_default().trim();
        if kind.ends_with("x-www-form-urlencoded") {
            self.parameters(std::str::from_utf8(body).unwrap_or_default());
        } else if kind.ends_with("json")
            && let Ok(value) = serde_json::from_slice(body)
        {
            self.value(&value, 0);
        }
    }

    fn value(&mut self, value: &Value, depth: usize) {
        if depth >= DEPTH_MAX {
            return;
        }
        let deeper = depth.saturating_add(1);
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        Value::String(text) if LINKS.contains(&&**name) => self.secret(text),
                        Value::String(text) if name == "jwt" => self.nonce_of(text),
                        Value::Array(proofs) if name == "jwt" => {
                            let proofs = proofs.iter().filter_map(Value::as_str);
                            proofs
                                .take(LINKS_MAX)
                                .for_each(|proof| self.nonce_of(proof));
                        }
                        other => self.value(other, deeper),
                    }
                }
            }
            Value::Array(items) => {
                let items = items.iter().take(LINKS_MAX);
                items.for_each(|item| self.value(item, deeper));
            }
            _ => {}
        }
    }

    /// The nonce of a key proof, which the issuer has given before (OpenID4VCI 1.0 §7).
    fn nonce_of(&mut self, proof: &str) {
        let payload = proof.split('.').nth(1).unwrap_or_default();
        let Ok(bytes) = base64url_decode(payload) else {
            return;
        };
        let payload: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if let Some(nonce) = payload["nonce"].as_str() {
            self.secret(nonce);
        }
    }

    fn add(&mut self, link: WireLink) {
        if self.links.len() < LINKS_MAX && !self.links.contains(&link) {
            self.links.push(link);
        }
    }
}

/// The link of the flow of a kind with this identifier.
pub(crate) fn of_id(kind: &str, id: &str) -> WireLink {
    digest(kind, id)
}

fn digest(kind: &str, value: &str) -> WireLink {
    base64url_encode(&sha256_parts(&[kind.as_bytes(), b"\n", value.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(body: &Value) -> Vec<WireLink> {
        let mut found = FoundLinks::default();
        found.body(body.to_string().as_bytes(), "application/json");
        found.links
    }

    #[test]
    fn a_code_that_an_offer_gives_is_that_which_a_token_request_brings() {
        let code = "a-code-of-some-length";
        let offer = json!({"grants": {"urn:ietf:params:oauth:grant-type:pre-authorized_code": {"pre-authorized_code": code}}});
        let mut found = FoundLinks::default();
        let body = format!("grant_type=x&pre-authorized_code={code}");
        found.body(body.as_bytes(), "application/x-www-form-urlencoded");
        assert_eq!(of(&offer), found.links);
        assert!(!found.links[0].contains("code"));
    }

    #[test]
    fn a_key_proof_brings_the_nonce_that_was_given() {
        let payload = base64url_encode(br#"{"nonce":"a-nonce-of-some-length"}"#);
        let proofs = json!({"proofs": {"jwt": [format!("e30.{payload}.c2ln")]}});
        assert_eq!(
            of(&proofs),
            of(&json!({"c_nonce": "a-nonce-of-some-length"}))
        );
    }

    #[test]
    fn a_short_value_ties_nothing_and_many_values_are_bounded() {
        assert!(of(&json!({"code": "4711"})).is_empty());
        let many: Vec<Value> = (0..99)
            .map(|n| json!({"code": format!("{n:032}")}))
            .collect();
        assert_eq!(of(&json!(many)).len(), LINKS_MAX);
    }
}
