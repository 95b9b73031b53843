//! A verifier's metadata in its request (OpenID4VP 1.0 §5.1, §11).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use url::Url;

/// Maximum length of a verifier's name, in characters.
pub const NAME_MAX: usize = 120;
/// Maximum length of the address of a logo, in bytes; a logo in a longer `data:` URI is not read.
const ADDRESS_MAX: usize = 2_000;
/// Maximum length of a request's purpose, in characters.
pub const PURPOSE_MAX: usize = 300;

/// A verifier's metadata (OpenID4VP 1.0 §5.1, §11); other members are ignored.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClientMetadata {
    /// The formats that the verifier can check, each with its algorithms.
    #[serde(default)]
    pub vp_formats_supported: BTreeMap<String, VpFormat>,
    /// The keys to encrypt answers to, a JWK Set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks: Option<Box<Value>>,
    /// The content encryption algorithms for an encrypted answer; if absent, `A128GCM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_response_enc_values_supported: Option<Box<[String]>>,
    /// The verifier's name for itself (RFC 7591 §2). OpenID4VP 1.0 §5.1 leaves it to profiles: ours is
    /// `docs/request-profile.md`.
    #[serde(
        default,
        deserialize_with = "name",
        skip_serializing_if = "Option::is_none"
    )]
    pub client_name: Option<String>,
    /// The address of the verifier's logo (RFC 7591 §2), which a profile may add as well.
    #[serde(
        default,
        deserialize_with = "address",
        skip_serializing_if = "Option::is_none"
    )]
    pub logo_uri: Option<Url>,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    let text = value.as_ref().and_then(Value::as_str);
    let text = text.filter(|text| text.len() <= ADDRESS_MAX);
    Ok(text.and_then(|text| Url::parse(text).ok()))
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| said(&value, NAME_MAX)))
}

/// What a verifier says to people about itself: one line of at most this number of characters. A profile of another
/// wallet may use the same member in another way, so that what is no text says nothing.
pub fn said(value: &Value, most: usize) -> Option<String> {
    let text = value.as_str()?;
    // Not more is looked at than is needed for a line with some space in it.
    let looked_at = text.chars().take(most.saturating_mul(4));
    let spaced: String = looked_at
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(most).collect();
    (!line.is_empty()).then_some(line)
}

/// The algorithms that a verifier can check in one format; an absent list allows any.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct VpFormat {
    /// For W3C credentials and presentations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg_values: Option<Vec<String>>,
    /// For the issuer's signature of an SD-JWT.
    #[serde(
        rename = "sd-jwt_alg_values",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub sd_jwt_alg_values: Option<Vec<String>>,
    /// For the key binding of an SD-JWT.
    #[serde(
        rename = "kb-jwt_alg_values",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub kb_jwt_alg_values: Option<Vec<String>>,
    /// The kinds of proof of W3C credentials and presentations (OpenID4VP 1.0 §B.1.3.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_type_values: Option<Vec<String>>,
    /// The cryptosuites of their Data Integrity proofs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptosuite_values: Option<Vec<String>>,
    /// For the issuer's signature of an mdoc, as COSE numbers (OpenID4VP 1.0 §B.2.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuerauth_alg_values: Option<Vec<i64>>,
    /// For the device's proof of an mdoc, as COSE numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviceauth_alg_values: Option<Vec<i64>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_logo_without_a_valid_address_is_ignored() {
        let of = |logo: Value| {
            let metadata = json!({"vp_formats_supported": {}, "logo_uri": logo});
            let read: ClientMetadata = serde_json::from_value(metadata).unwrap();
            read.logo_uri.map(String::from)
        };
        let logo = "https://harbour.example/logo.png";
        assert_eq!(of(json!(logo)).as_deref(), Some(logo));
        let long = format!("https://harbour.example/{}", "x".repeat(ADDRESS_MAX));
        for nothing in [json!("logo.png"), json!(long), json!(7), json!(null)] {
            assert_eq!(of(nothing), None);
        }
    }

    #[test]
    fn what_a_verifier_calls_itself_is_one_line_of_bounded_length() {
        let named = |name: Value| {
            let metadata = json!({"vp_formats_supported": {}, "client_name": name});
            let read: ClientMetadata = serde_json::from_value(metadata).unwrap();
            read.client_name
        };
        assert_eq!(
            named(json!("Harbour Office")),
            Some("Harbour Office".to_owned())
        );
        assert_eq!(
            named(json!(" Harbour\n\tOffice\u{0} ")),
            Some("Harbour Office".to_owned())
        );
        let long = named(json!("x".repeat(10_000))).unwrap();
        assert_eq!(long.len(), NAME_MAX);
        for nothing in [json!(""), json!(" \n"), json!(7), json!(["x"]), json!(null)] {
            assert_eq!(named(nothing), None);
        }
    }
}
