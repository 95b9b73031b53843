//! The protected header of a JWS (RFC 7515 §4).

use serde_json::{Map, Value};

use super::JwsError;
use crate::algorithm::Algorithm;
use crate::encoding::base64_decode;
use crate::json::{self, Limits};
use crate::jwk::Jwk;

const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_members: 512,
};
/// The maximum length of a certificate chain.
const MAX_CERTIFICATES: usize = 8;

/// The protected header, with the common members parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The signature algorithm.
    pub alg: Algorithm,
    /// The media type of the JWS.
    pub typ: Option<String>,
    /// The identifier of the signing key.
    pub kid: Option<String>,
    /// The signing key, public members only.
    pub jwk: Option<Jwk>,
    /// The certificate chain of the signing key, each in DER, the key's own certificate first.
    pub x5c: Option<Vec<Vec<u8>>>,
    /// All other members.
    pub other: Map<String, Value>,
}

impl Header {
    /// Parses the header's JSON.
    pub fn parse(bytes: &[u8]) -> Result<Self, JwsError> {
        let Ok(Value::Object(mut members)) = json::parse(bytes, &LIMITS) else {
            return Err(JwsError::Header);
        };
        // RFC 7515 §4.1.11: extensions named here must be understood. None is supported.
        if members.contains_key("crit") {
            return Err(JwsError::Critical);
        }
        // RFC 7797 §3: an unencoded payload changes the signed bytes. Only the default value is accepted.
        if members
            .get("b64")
            .is_some_and(|b64| *b64 != Value::Bool(true))
        {
            return Err(JwsError::Critical);
        }
        let alg = text(&mut members, "alg")?.ok_or(JwsError::Algorithm)?;
        let jwk = members
            .remove("jwk")
            .map(|jwk| Jwk::from_value(&jwk))
            .transpose();
        Ok(Self {
            alg: alg.parse().map_err(|_| JwsError::Algorithm)?,
            typ: text(&mut members, "typ")?,
            kid: text(&mut members, "kid")?,
            jwk: jwk.map_err(|_| JwsError::Key)?,
            x5c: members.remove("x5c").map(certificates).transpose()?,
            other: members,
        })
    }

    /// Whether `typ` is the media type `application/<subtype>`. The prefix `application/` may be omitted (RFC 7515
    /// §4.1.9), and media types are case-insensitive (RFC 2045 §5.1).
    pub fn is_of_type(&self, subtype: &str) -> bool {
        let named = |typ: &str| match typ.split_once('/') {
            Some((kind, rest)) => {
                kind.eq_ignore_ascii_case("application") && rest.eq_ignore_ascii_case(subtype)
            }
            None => typ.eq_ignore_ascii_case(subtype),
        };
        self.typ.as_deref().is_some_and(named)
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, JwsError> {
    match members.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(JwsError::Header),
    }
}

/// RFC 7515 §4.1.6: base64 with padding, not base64url.
fn certificates(value: Value) -> Result<Vec<Vec<u8>>, JwsError> {
    let Value::Array(elements) = value else {
        return Err(JwsError::Header);
    };
    if elements.is_empty() || elements.len() > MAX_CERTIFICATES {
        return Err(JwsError::Key);
    }
    let decode = |element: &Value| base64_decode(element.as_str()?).ok();
    elements
        .iter()
        .map(|element| decode(element).ok_or(JwsError::Key))
        .collect()
}
