//! Signed JSON Web Tokens (RFC 7519) as OAuth uses them: assertions, proofs, request objects, tokens.

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jws::{Compact, Header};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, Jwk, PublicKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The maximum length of a token, in bytes.
pub const MAX_BYTES: usize = 32 * 1024;
/// The maximum number of keys in a set that are looked at.
const MAX_KEYS: usize = 64;
/// The maximum length of a set of keys, in bytes.
const MAX_SET: usize = 128 * 1024;

/// A token that was read. Its signature may not have been verified yet.
#[derive(Clone, Debug)]
pub struct Jwt {
    jws: Compact,
    claims: Map<String, Value>,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum JwtFault {
    /// It is not a signed token with a JSON object, or its algorithm is not supported.
    #[error("the token is malformed or its algorithm is not supported")]
    Form,
    /// None of the sender's keys made the signature, or the algorithm is not allowed.
    #[error("the token is not signed by a known key")]
    Signature,
    /// A claim is missing or has the wrong type.
    #[error("a claim of the token is missing or malformed")]
    Claim,
    /// It is for another audience.
    #[error("the token is for another audience")]
    Audience,
    /// It has expired, is not valid yet, or lives too long.
    #[error("the token has expired or is not valid yet")]
    Time,
}

/// The time at which a token is judged, and how far clocks may differ.
#[derive(Clone, Copy, Debug)]
pub struct JwtTime {
    /// The time.
    pub now: UnixTime,
    /// How far the sender's clock may differ, in seconds.
    pub leeway: u64,
    /// The longest time from now to `exp`, in seconds.
    pub longest: u64,
}

impl Jwt {
    /// Reads a token.
    ///
    /// # Errors
    /// [`JwtFault::Form`].
    pub fn parse(text: &str) -> Result<Self, JwtFault> {
        let jws = Compact::parse_within(text, MAX_BYTES).map_err(|_| JwtFault::Form)?;
        match jws.claims() {
            Ok(Value::Object(claims)) => Ok(Self { jws, claims }),
            _ => Err(JwtFault::Form),
        }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.jws.header
    }

    /// All claims.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// All claims, by value.
    pub fn into_claims(self) -> Map<String, Value> {
        self.claims
    }

    /// A claim that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name).and_then(Value::as_str)
    }

    /// A claim that is a time in seconds. A fraction is dropped (RFC 7519 §2).
    ///
    /// # Errors
    /// [`JwtFault::Claim`] if it is not a number, or negative.
    pub fn time(&self, name: &str) -> Result<Option<UnixTime>, JwtFault> {
        let Some(value) = self.claims.get(name) else {
            return Ok(None);
        };
        let whole = value.as_u64().or_else(|| {
            let seconds = value
                .as_f64()
                .filter(|seconds| (0.0..1e15).contains(seconds));
            seconds.map(|seconds| seconds as u64)
        });
        whole
            .map(|whole| Some(UnixTime(whole)))
            .ok_or(JwtFault::Claim)
    }

    /// The audiences: `aud` is a text or an array of texts (RFC 7519 §4.1.3).
    ///
    /// # Errors
    /// [`JwtFault::Claim`] if it is missing or something else.
    pub fn audiences(&self) -> Result<Vec<&str>, JwtFault> {
        match self.claims.get("aud") {
            Some(Value::String(one)) => Ok(vec![one]),
            Some(Value::Array(several)) => {
                let texts: Option<Vec<&str>> = several.iter().map(Value::as_str).collect();
                texts
                    .filter(|texts| !texts.is_empty())
                    .ok_or(JwtFault::Claim)
            }
            _ => Err(JwtFault::Claim),
        }
    }

    /// Verifies the signature with the key of the header's `kid`, or any key that fits.
    ///
    /// # Errors
    /// [`JwtFault::Signature`].
    pub fn verify_with(
        &self,
        keys: &VerificationKeys,
        allowed: &[Algorithm],
    ) -> Result<(), JwtFault> {
        let alg = self.header().alg;
        if !allowed.contains(&alg) {
            return Err(JwtFault::Signature);
        }
        let fits = |key: &&Jwk| {
            let named = self.header().kid.as_deref();
            key.may_verify(alg) && (named.is_none() || key.kid.as_deref() == named)
        };
        let mut fitting = keys.0.iter().filter(fits);
        let verifies = |key: &Jwk| {
            let key = PublicKey::from_jwk(key);
            key.is_ok_and(|key| self.jws.verify(&key).is_ok())
        };
        match fitting.any(verifies) {
            true => Ok(()),
            false => Err(JwtFault::Signature),
        }
    }

    /// Verifies the signature with this key.
    ///
    /// # Errors
    /// [`JwtFault::Signature`].
    pub fn verify(&self, key: &PublicKey) -> Result<(), JwtFault> {
        self.jws.verify(key).map_err(|_| JwtFault::Signature)
    }

    /// Checks `exp`, which must be there, and `nbf` and `iat` if they are. Returns the end.
    ///
    /// # Errors
    /// [`JwtFault::Claim`] or [`JwtFault::Time`].
    pub fn check_times(&self, at: JwtTime) -> Result<UnixTime, JwtFault> {
        let expires = self.time("exp")?.ok_or(JwtFault::Claim)?;
        let latest = at.now.plus(at.leeway);
        let is_early = |time: Option<UnixTime>| time.is_some_and(|time| time > latest);
        let is_over = expires.plus(at.leeway) <= at.now;
        let is_long = expires > latest.plus(at.longest);
        match is_over || is_long || is_early(self.time("nbf")?) || is_early(self.time("iat")?) {
            true => Err(JwtFault::Time),
            false => Ok(expires.plus(at.leeway)),
        }
    }

    /// Checks that one of these is an audience.
    ///
    /// # Errors
    /// [`JwtFault::Audience`] or [`JwtFault::Claim`].
    pub fn check_audience(&self, ours: &[&str]) -> Result<(), JwtFault> {
        match self.audiences()?.iter().any(|one| ours.contains(one)) {
            true => Ok(()),
            false => Err(JwtFault::Audience),
        }
    }
}

/// The public keys of a party (RFC 7517 §5), those that can be used here.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VerificationKeys(Vec<Jwk>);

/// A set of keys is malformed, too large, or has a private key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the set of keys is malformed, too large, or has a private key")]
pub struct KeySetFault;

impl VerificationKeys {
    /// These keys.
    pub fn of(keys: Vec<Jwk>) -> Self {
        Self(keys)
    }

    /// Reads a JWK Set. Keys of types that are not supported are left out (RFC 7517 §5).
    ///
    /// # Errors
    /// [`KeySetFault`], also for a set with a private or shared key.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeySetFault> {
        let limits = Limits {
            max_bytes: MAX_SET,
            ..Limits::default()
        };
        let set = json::parse(bytes, &limits).map_err(|_| KeySetFault)?;
        Self::from_value(&set)
    }

    /// Reads a JWK Set that is parsed already.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn from_value(set: &Value) -> Result<Self, KeySetFault> {
        let keys = set
            .get("keys")
            .and_then(Value::as_array)
            .ok_or(KeySetFault)?;
        if keys.len() > MAX_KEYS {
            return Err(KeySetFault);
        }
        let mut read = Vec::new();
        for key in keys {
            match Jwk::from_value(key) {
                Ok(key) => read.push(key),
                Err(selfsame_crypto::KeyError::Private) => return Err(KeySetFault),
                Err(_) => {}
            }
        }
        Ok(Self(read))
    }

    /// The keys.
    pub fn keys(&self) -> &[Jwk] {
        &self.0
    }

    /// As a JWK Set.
    pub fn to_value(&self) -> Value {
        let keys = self.0.iter().map(Jwk::to_value).collect();
        Value::Object(Map::from_iter([("keys".to_owned(), Value::Array(keys))]))
    }
}

impl Serialize for VerificationKeys {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for VerificationKeys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let set = Value::deserialize(deserializer)?;
        Self::from_value(&set).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use selfsame_crypto::jws::Unsigned;
    use selfsame_crypto::{KeyType, PrivateKey};
    use serde_json::json;

    use super::*;

    /// A token by this key.
    pub(crate) fn signed(key: &PrivateKey, header: Value, claims: Value) -> String {
        let mut header = header;
        if header.get("alg").is_none() {
            header["alg"] = json!(key.algorithm().as_str());
        }
        let draft = Unsigned::new(&header, &claims);
        let signature = key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    const TIME: JwtTime = JwtTime {
        now: UnixTime(1_000),
        leeway: 5,
        longest: 60,
    };

    fn times(claims: Value) -> Result<UnixTime, JwtFault> {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let jwt = Jwt::parse(&signed(&key, json!({}), claims)).unwrap();
        jwt.check_times(TIME)
    }

    #[test]
    fn a_token_is_verified_by_the_key_that_its_header_names() {
        let (ours, other) = (
            PrivateKey::generate(KeyType::P256).unwrap(),
            PrivateKey::generate(KeyType::P256).unwrap(),
        );
        let keys = VerificationKeys::of(vec![
            other.public().to_jwk().with_kid("other"),
            ours.public().to_jwk().with_kid("ours"),
        ]);
        let verify = |kid: Option<&str>, allowed: &[Algorithm]| {
            let header = kid.map_or(json!({}), |kid| json!({ "kid": kid }));
            let text = signed(&ours, header, json!({}));
            Jwt::parse(&text).unwrap().verify_with(&keys, allowed)
        };
        assert_eq!(verify(Some("ours"), &[Algorithm::Es256]), Ok(()));
        assert_eq!(verify(None, &[Algorithm::Es256]), Ok(()));
        let refused = Err(JwtFault::Signature);
        assert_eq!(verify(Some("other"), &[Algorithm::Es256]), refused);
        assert_eq!(verify(Some("none"), &[Algorithm::Es256]), refused);
        assert_eq!(verify(Some("ours"), &[Algorithm::Rs256]), refused);
    }

    #[test]
    fn a_token_without_a_signature_or_with_a_shared_secret_is_not_read() {
        for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9"] {
            assert_eq!(
                Jwt::parse(&format!("{header}.e30.")).unwrap_err(),
                JwtFault::Form
            );
        }
    }

    #[test]
    fn times_are_judged_with_a_leeway() {
        assert_eq!(times(json!({"exp": 1_030})), Ok(UnixTime(1_035)));
        assert_eq!(times(json!({"exp": 996})), Ok(UnixTime(1_001)));
        for late in [json!({"exp": 995}), json!({"exp": 1_066})] {
            assert_eq!(times(late), Err(JwtFault::Time));
        }
        let early = json!({"exp": 1_030, "nbf": 1_006});
        assert_eq!(times(early), Err(JwtFault::Time));
        assert_eq!(times(json!({})), Err(JwtFault::Claim));
        assert_eq!(times(json!({"exp": "1"})), Err(JwtFault::Claim));
    }

    #[test]
    fn a_set_with_a_private_key_is_refused_and_unknown_types_are_left_out() {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let public = key.public().to_jwk().to_value();
        let set = json!({"keys": [public, {"kty": "XYZ"}]});
        let read = VerificationKeys::from_value(&set).unwrap();
        assert_eq!(read.keys().len(), 1);
        let mut private = public.clone();
        private["d"] = json!("AAAA");
        assert!(VerificationKeys::from_value(&json!({"keys": [private]})).is_err());
        assert!(VerificationKeys::parse(b"[]").is_err());
    }
}
