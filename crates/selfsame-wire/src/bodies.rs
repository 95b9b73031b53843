//! The bodies and parameters of messages: forms, JSON, tokens.

use serde_json::{Map, Value, json};

use crate::masked;
use crate::rules::WireRules;
use crate::texts::digest;

/// Parameters of forms that are JSON in a text.
const JSON_TEXTS: [&str; 7] = [
    "authorization_details",
    "claims",
    "client_metadata",
    "credential_offer",
    "dcql_query",
    "vp_token",
    "wallet_metadata",
];

/// A body of a message of this media type, as it is kept.
#[must_use]
pub fn shown_body(body: &[u8], media: &str) -> Value {
    masked(body, media, WireRules::Protocol).unwrap_or_default()
}

/// A body, as what it says; `None` for an empty one.
pub(crate) fn masked(body: &[u8], media: &str, rules: WireRules) -> Option<Value> {
    if body.is_empty() {
        return None;
    }
    let unread = || json!(format!("hidden, {} bytes", body.len()));
    let Some(text) = std::str::from_utf8(body).ok() else {
        return Some(unread());
    };
    let kind = media.split(';').next().unwrap_or_default().trim();
    Some(match kind {
        "application/x-www-form-urlencoded" => parameters(text, rules),
        kind if kind.ends_with("json") => match serde_json::from_str(text) {
            Ok(value) => masked::message(&value, rules),
            Err(_) => unread(),
        },
        kind if kind.ends_with("jwt") => masked::request(text.trim()),
        _ => unread(),
    })
}

/// The parameters of a form or of a query.
pub(crate) fn parameters(text: &str, rules: WireRules) -> Value {
    let mut told = Map::new();
    for (name, value) in pairs(text) {
        let told_name = match value.is_empty() && !is_word(&name) {
            // A secret may have come without its name.
            true => digest(&name),
            false => masked::name(&name),
        };
        let parsed = match JSON_TEXTS.contains(&&*name) {
            true => serde_json::from_str(&value).unwrap_or(Value::String(value)),
            false => Value::String(value),
        };
        let shown = masked::member(&name, &parsed, rules, 0);
        told.insert(told_name, shown);
    }
    Value::Object(told)
}

/// Whether a text is a name as parameters have it.
fn is_word(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-');
    name.bytes().all(is_letter)
}

/// The names and values of a form or of a query.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = url::form_urlencoded::parse(text.as_bytes()).take(masked::MEMBERS_MAX);
    pairs.map(|(name, value)| (name.into_owned(), value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "application/x-www-form-urlencoded";

    #[test]
    fn a_form_keeps_what_is_asked_for_and_hides_passwords_and_codes() {
        let body = b"grant_type=authorization_code&code=a-code-that-nobody-can-guess&client_secret=guess&tx_code=4711";
        let told = masked(body, FORM, WireRules::Protocol).unwrap();
        assert_eq!(told["grant_type"], "authorization_code");
        assert!(told["code"].as_str().unwrap().starts_with("SHA-256"));
        assert_eq!(told["client_secret"], "hidden, 5 characters");
        assert_eq!(told["tx_code"], "hidden, 4 characters");
    }

    #[test]
    fn a_secret_that_came_without_its_name_is_a_digest_and_json_sent_as_a_form_is_hidden() {
        for body in [
            "a-Token-that-nobody-can-guess",
            "{\"code\":\"guess\"}",
            "guess4711",
        ] {
            let told = masked(body.as_bytes(), FORM, WireRules::Protocol).unwrap();
            assert!(!told.to_string().contains("guess"), "{told}");
        }
        let told = masked(b"nonce=&state", FORM, WireRules::Protocol).unwrap();
        assert_eq!(told["nonce"], "hidden, 0 characters");
        assert_eq!(told["state"], "hidden, 0 characters");
    }

    #[test]
    fn a_query_within_a_form_is_read_and_another_text_is_not() {
        let body = format!(
            "dcql_query={}",
            "%7B%22credentials%22%3A%5B%7B%22id%22%3A%22a%22%7D%5D%7D"
        );
        let told = masked(body.as_bytes(), FORM, WireRules::Protocol).unwrap();
        assert_eq!(told["dcql_query"]["credentials"][0]["id"], "a");
        assert_eq!(
            masked(b"secret", "text/plain", WireRules::Protocol).unwrap(),
            "hidden, 6 bytes"
        );
        assert_eq!(
            masked(b"{secret", "application/json", WireRules::Protocol).unwrap(),
            "hidden, 7 bytes"
        );
        assert_eq!(masked(b"", "application/json", WireRules::Protocol), None);
    }
}
