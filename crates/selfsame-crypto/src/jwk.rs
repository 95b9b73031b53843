//! Public JSON Web Keys (RFC 7517). Keys with members of private or shared keys are refused when they are read.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::algorithm::Algorithm;
use crate::encoding::{base64url_append, base64url_decode, base64url_encode};
use crate::error::KeyError;
use crate::hash::sha256;
use crate::json;

/// A public JWK: well formed, but its curve may be one that cannot be verified with here (`X25519`, `P-521`).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Jwk {
    /// The key type and its members.
    pub params: JwkParams,
    /// The key's identifier.
    pub kid: Option<String>,
    /// The algorithm the key is meant for.
    pub alg: Option<String>,
    /// What the key is meant for: `sig` or `enc`.
    pub use_: Option<String>,
    /// The operations the key may be used for: `verify`, `encrypt` and others.
    pub key_ops: Option<Vec<String>>,
}

/// The members of the key material (RFC 7518 §6, RFC 8037 §2, RFC 9964 §3), decoded.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum JwkParams {
    /// `kty` `OKP`.
    Okp {
        /// The curve's name.
        crv: String,
        /// The public key.
        x: Vec<u8>,
    },
    /// `kty` `EC`.
    Ec {
        /// The curve's name.
        crv: String,
        /// The x coordinate.
        x: Vec<u8>,
        /// The y coordinate.
        y: Vec<u8>,
    },
    /// `kty` `RSA`.
    Rsa {
        /// The modulus without leading zeros.
        n: Vec<u8>,
        /// The exponent without leading zeros.
        e: Vec<u8>,
    },
    /// `kty` `AKP` (RFC 9964 §3): the algorithm determines the key type.
    Akp {
        /// The algorithm's name.
        alg: String,
        /// The public key.
        public: Vec<u8>,
    },
}

impl Jwk {
    /// Reads a JSON object. Unknown members are dropped.
    pub fn from_value(value: &Value) -> Result<Self, KeyError> {
        // Checked first: a leaked private key must be noticed even if other members are wrong.
        if PRIVATE.iter().any(|name| value.get(name).is_some()) {
            return Err(KeyError::Private);
        }
        Raw::of(value).ok_or(KeyError::Malformed("JWK"))?.try_into()
    }

    /// The key as a JSON object.
    pub fn to_value(&self) -> Value {
        let mut object = self.required();
        for (name, member) in [("kid", &self.kid), ("alg", &self.alg), ("use", &self.use_)] {
            if let Some(text) = member {
                object.insert(name.to_owned(), Value::String(text.clone()));
            }
        }
        if let Some(operations) = &self.key_ops {
            object.insert("key_ops".to_owned(), Value::from(operations.clone()));
        }
        Value::Object(object)
    }

    /// The canonical text (RFC 8785) of [`Jwk::to_value`]. No value is a number and all member names are ASCII, so it
    /// is the compact text with sorted members that serde_json writes.
    pub fn to_canonical_json(&self) -> Vec<u8> {
        json::to_bytes(&self.to_value())
    }

    /// The key with this `kid`.
    #[must_use]
    pub fn with_kid(self, kid: impl Into<String>) -> Self {
        Self {
            kid: Some(kid.into()),
            ..self
        }
    }

    /// Whether `use`, `key_ops` and `alg`, as far as the key has them, allow it to verify signatures of this algorithm
    /// (RFC 7517 §4.2, §4.3, §4.4; RFC 8725 §3.1).
    pub fn may_verify(&self, algorithm: Algorithm) -> bool {
        let signs = self.use_.as_deref().is_none_or(|purpose| purpose == "sig");
        let verifies = |operations: &[String]| operations.iter().any(|name| name == "verify");
        let verifies = self.key_ops.as_deref().is_none_or(verifies);
        let named = self.alg.as_deref().map(str::parse::<Algorithm>);
        signs && verifies && named.is_none_or(|named| named == Ok(algorithm))
    }

    /// The SHA-256 thumbprint over the required members (RFC 7638 §3).
    pub fn thumbprint(&self) -> [u8; 32] {
        match self.params.canonical() {
            Some(text) => sha256(text.as_bytes()),
            None => sha256(&json::to_bytes(&Value::Object(self.required()))),
        }
    }

    fn required(&self) -> Map<String, Value> {
        let text = |text: &str| Value::String(text.to_owned());
        let bytes = |bytes: &[u8]| Value::String(base64url_encode(bytes));
        let members = match &self.params {
            JwkParams::Okp { crv, x } => {
                vec![("kty", text("OKP")), ("crv", text(crv)), ("x", bytes(x))]
            }
            JwkParams::Ec { crv, x, y } => {
                vec![
                    ("kty", text("EC")),
                    ("crv", text(crv)),
                    ("x", bytes(x)),
                    ("y", bytes(y)),
                ]
            }
            JwkParams::Rsa { n, e } => vec![("kty", text("RSA")), ("n", bytes(n)), ("e", bytes(e))],
            JwkParams::Akp { alg, public } => vec![
                ("kty", text("AKP")),
                ("alg", text(alg)),
                ("pub", bytes(public)),
            ],
        };
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// The length of most canonical forms. Those of RSA and ML-DSA keys are longer.
const USUAL_BYTES: usize = 160;

impl JwkParams {
    /// The canonical form (RFC 7638 §3.2), if nothing in it has to be escaped. The member names are written in sorted
    /// order.
    fn canonical(&self) -> Option<String> {
        let mut text = String::with_capacity(USUAL_BYTES);
        match self {
            Self::Okp { crv, x } => {
                text.extend(["{\"crv\":\"", plain(crv)?, "\",\"kty\":\"OKP\",\"x\":\""]);
                base64url_append(x, &mut text);
            }
            Self::Ec { crv, x, y } => {
                text.extend(["{\"crv\":\"", plain(crv)?, "\",\"kty\":\"EC\",\"x\":\""]);
                base64url_append(x, &mut text);
                text.push_str("\",\"y\":\"");
                base64url_append(y, &mut text);
            }
            Self::Rsa { n, e } => {
                text.push_str("{\"e\":\"");
                base64url_append(e, &mut text);
                text.push_str("\",\"kty\":\"RSA\",\"n\":\"");
                base64url_append(n, &mut text);
            }
            Self::Akp { alg, public } => {
                text.extend(["{\"alg\":\"", plain(alg)?, "\",\"kty\":\"AKP\",\"pub\":\""]);
                base64url_append(public, &mut text);
            }
        }
        text.push_str("\"}");
        Some(text)
    }
}

/// A name that needs no escaping in JSON.
fn plain(name: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    name.bytes().all(is_plain).then_some(name)
}

impl From<JwkParams> for Jwk {
    fn from(params: JwkParams) -> Self {
        Self {
            params,
            kid: None,
            alg: None,
            use_: None,
            key_ops: None,
        }
    }
}

impl Serialize for Jwk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Jwk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer)?
            .try_into()
            .map_err(D::Error::custom)
    }
}

/// The members as received. For this struct serde refuses duplicates.
#[derive(Deserialize)]
struct Raw {
    kty: String,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
    #[serde(rename = "pub")]
    public: Option<String>,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    use_: Option<String>,
    key_ops: Option<Vec<String>>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Raw {
    /// The members of a value without the private ones. `None` if one is not a string, or `key_ops` not an array of
    /// strings. A `Value` has no duplicate names.
    fn of(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let text = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => None,
        };
        let texts = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::Array(members)) => {
                let texts = members.iter().map(|text| text.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().map(Some)
            }
            Some(_) => None,
        };
        Some(Self {
            kty: text("kty")??,
            crv: text("crv")?,
            x: text("x")?,
            y: text("y")?,
            n: text("n")?,
            e: text("e")?,
            public: text("pub")?,
            kid: text("kid")?,
            alg: text("alg")?,
            use_: text("use")?,
            key_ops: texts("key_ops")?,
            other: Map::new(),
        })
    }
}

/// Members that only private or shared keys have (RFC 7518 §6.2.2, §6.3.2, §6.4.1, RFC 9964 §3).
const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

impl TryFrom<Raw> for Jwk {
    type Error = KeyError;

    fn try_from(raw: Raw) -> Result<Self, KeyError> {
        if raw.kty == "oct" || PRIVATE.iter().any(|name| raw.other.contains_key(*name)) {
            return Err(KeyError::Private);
        }
        // RFC 7517 §4.3.
        if raw.key_ops.as_deref().is_some_and(repeats) {
            return Err(KeyError::Malformed("JWK whose key_ops repeats a member"));
        }
        let params = match raw.kty.as_str() {
            "OKP" => JwkParams::Okp {
                crv: some(raw.crv)?,
                x: bytes(raw.x)?,
            },
            "EC" => JwkParams::Ec {
                crv: some(raw.crv)?,
                x: bytes(raw.x)?,
                y: bytes(raw.y)?,
            },
            "RSA" => JwkParams::Rsa {
                n: bytes(raw.n)?,
                e: bytes(raw.e)?,
            },
            "AKP" => JwkParams::Akp {
                alg: some(raw.alg.clone())?,
                public: bytes(raw.public)?,
            },
            _ => return Err(KeyError::Unsupported),
        };
        Ok(Self {
            params,
            kid: raw.kid,
            alg: raw.alg,
            use_: raw.use_,
            key_ops: raw.key_ops,
        })
    }
}

fn repeats(operations: &[String]) -> bool {
    let mut seen = BTreeSet::new();
    !operations.iter().all(|name| seen.insert(name))
}

fn some<T>(member: Option<T>) -> Result<T, KeyError> {
    member.ok_or(KeyError::Malformed("JWK without a required member"))
}

fn bytes(member: Option<String>) -> Result<Vec<u8>, KeyError> {
    let bytes = base64url_decode(&some(member)?).map_err(|_| KeyError::Malformed("JWK member"))?;
    if bytes.is_empty() {
        Err(KeyError::Malformed("JWK member"))
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn params() -> impl Strategy<Value = JwkParams> {
        let bytes = || proptest::collection::vec(any::<u8>(), 1..80);
        let name = "([A-Za-z0-9-]{0,12}|\\PC{0,4}[\"\\\\\u{1}]?)";
        prop_oneof![
            (name, bytes()).prop_map(|(crv, x)| JwkParams::Okp { crv, x }),
            (name, bytes(), bytes()).prop_map(|(crv, x, y)| JwkParams::Ec { crv, x, y }),
            (bytes(), bytes()).prop_map(|(n, e)| JwkParams::Rsa { n, e }),
            (name, bytes()).prop_map(|(alg, public)| JwkParams::Akp { alg, public }),
        ]
    }

    fn member() -> impl Strategy<Value = (String, Value)> {
        let name = "kty|crv|x|y|n|e|pub|kid|alg|use|key_ops|d|k|priv|other";
        let text = "OKP|EC|RSA|AKP|oct|P-256|Ed25519|sig|[A-Za-z0-9_=-]{0,8}";
        let value = prop_oneof![
            8 => text.prop_map(Value::String),
            1 => Just(Value::Null),
            1 => any::<u8>().prop_map(Value::from),
            1 => proptest::collection::vec("sign|verify", 0..3).prop_map(Value::from),
        ];
        (name, value)
    }

    #[test]
    fn the_canonical_text_has_the_members_of_rfc_8785_section_3_2_3_in_order() {
        let jwk = Jwk {
            params: JwkParams::Ec {
                crv: "P-256".to_owned(),
                x: vec![1],
                y: vec![2],
            },
            kid: Some("k".to_owned()),
            alg: Some("ES256".to_owned()),
            use_: Some("sig".to_owned()),
            key_ops: Some(vec!["verify".to_owned(), "sign".to_owned()]),
        };
        let expected = r#"{"alg":"ES256","crv":"P-256","key_ops":["verify","sign"],"kid":"k","kty":"EC","use":"sig","x":"AQ","y":"Ag"}"#;
        assert_eq!(jwk.to_canonical_json(), expected.as_bytes());
    }

    #[test]
    fn the_canonical_text_escapes_as_the_example_of_rfc_8785_section_3_2_2_does() {
        let jwk = Jwk::from(JwkParams::Okp {
            crv: "\u{20ac}$\u{f}\nA'B\"\\\\\"/".to_owned(),
            x: vec![1],
        });
        let kid = "\u{8}\t\u{c}\r\0\u{1f}\u{7f}\u{80}\u{2028}\u{fb33}\u{1f600}";
        let crv = r#""crv":"€$\u000f\nA'B\"\\\\\"/""#;
        let kid_text =
            "\"kid\":\"\\b\\t\\f\\r\\u0000\\u001f\u{7f}\u{80}\u{2028}\u{fb33}\u{1f600}\"";
        let expected = format!(r#"{{{crv},{kid_text},"kty":"OKP","x":"AQ"}}"#);
        assert_eq!(jwk.with_kid(kid).to_canonical_json(), expected.into_bytes());
    }

    proptest! {
        #[test]
        fn a_value_says_what_its_text_says(members in proptest::collection::vec(member(), 0..9)) {
            let value = Value::Object(members.into_iter().collect());
            let read: Result<Jwk, _> = serde_json::from_str(&value.to_string());
            prop_assert_eq!(Jwk::from_value(&value).ok(), read.ok());
        }

        #[test]
        fn the_thumbprint_is_the_hash_of_the_required_members_in_canonical_form(params in params()) {
            let jwk = Jwk::from(params);
            let canonical = json::to_bytes(&Value::Object(jwk.required()));
            prop_assert_eq!(jwk.thumbprint(), sha256(&canonical));
            if let Some(text) = jwk.params.canonical() {
                prop_assert_eq!(text.as_bytes(), canonical.as_slice());
            }
        }
    }
}
