//! Masks what would allow taking or signing something.

use serde_json::Value;

/// What stands in place of a secret.
const MASK: &str = "(masked)";
/// Members that are secrets wherever they stand.
const SECRETS: [&str; 6] = [
    "pre-authorized_code",
    "client_secret",
    "privateKeyJwk",
    "privateKeyMultibase",
    "privateKeyBase58",
    "privateKeyHex",
];
/// Members of a private key (RFC 7518 §6.2.2, §6.3.2, §6.4.1).
const PRIVATE: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];

/// The value with its secrets masked.
pub fn mask(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(mask).collect(),
        Value::Object(members) => {
            let is_key = members.contains_key("kty");
            let masked = members.into_iter().map(|(name, value)| {
                let is_secret = SECRETS.contains(&name.as_str())
                    || (is_key && PRIVATE.contains(&name.as_str()));
                let value = match is_secret {
                    true => MASK.into(),
                    false => mask(value),
                };
                (name, value)
            });
            Value::Object(masked.collect())
        }
        other => other,
    }
}
