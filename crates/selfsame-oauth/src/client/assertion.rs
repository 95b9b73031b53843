//! The authentication of a client by a JWT that it signs (RFC 7523 §3).

use selfsame_crypto::Algorithm;

use crate::error::{Code, Error};
use crate::jwt::{Jwt, JwtTime, VerificationKeys};
use crate::spent::SpentId;

/// The longest `jti`, in bytes.
const MAX_JTI: usize = 256;

/// An assertion that was read. It proves nothing before [`ClientAssertion::verify`].
#[derive(Clone, Debug)]
pub struct ClientAssertion {
    jwt: Jwt,
    client_id: String,
}

/// What is demanded of an assertion.
#[derive(Clone, Copy, Debug)]
pub struct AssertionRules<'a> {
    /// The audiences of which it must name one.
    pub audiences: &'a [&'a str],
    /// Whether `aud` must be a single text (FAPI 2.0 Security Profile §5.3.2.1).
    pub single_audience: bool,
    /// The algorithms that are allowed.
    pub algorithms: &'a [Algorithm],
    /// When it is judged.
    pub time: JwtTime,
    /// Whether it needs a `jti`.
    pub needs_jti: bool,
}

impl ClientAssertion {
    /// Reads an assertion.
    ///
    /// # Errors
    /// `invalid_client` for one that is no JWT or names no client.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let jwt = Jwt::parse(text).map_err(|_| invalid("the client's assertion is malformed"))?;
        let client_id = jwt.text("sub").filter(|sub| jwt.text("iss") == Some(sub));
        let client_id = client_id.ok_or(invalid("iss and sub of the assertion differ"))?;
        let client_id = client_id.to_owned();
        Ok(Self { jwt, client_id })
    }

    /// The client that it names.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// Verifies the assertion with the client's keys. The identifier that is returned must be accepted once only; it is
    /// absent if the assertion has none and needs none.
    ///
    /// # Errors
    /// `invalid_client`.
    pub fn verify(
        &self,
        keys: &VerificationKeys,
        rules: &AssertionRules<'_>,
    ) -> Result<Option<SpentId>, Error> {
        self.jwt
            .verify_with(keys, rules.algorithms)
            .map_err(|_| invalid("the assertion is not signed by a key of the client"))?;
        let is_single = self
            .jwt
            .claims()
            .get("aud")
            .is_some_and(|aud| aud.is_string());
        let for_us = self.jwt.check_audience(rules.audiences).is_ok();
        if !for_us || (rules.single_audience && !is_single) {
            return Err(invalid("the assertion is for another audience"));
        }
        let expires = self.jwt.check_times(rules.time);
        let expires =
            expires.map_err(|_| invalid("the assertion has expired, or lives for too long"))?;
        match self.jwt.text("jti") {
            Some(jti) if !jti.is_empty() && jti.len() <= MAX_JTI => Ok(Some(SpentId::of(
                "assertion",
                &self.client_id,
                jti,
                expires,
            ))),
            None if !rules.needs_jti => Ok(None),
            _ => Err(invalid("jti of the assertion is missing or too long")),
        }
    }
}

const fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidClient, reason)
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;
    use selfsame_crypto::{KeyType, PrivateKey};
    use serde_json::{Value, json};

    use super::*;
    use crate::jwt::tests::signed;

    const RULES: AssertionRules<'_> = AssertionRules {
        audiences: &["https://op.example", "https://op.example/token"],
        single_audience: false,
        algorithms: &[Algorithm::Es256],
        time: JwtTime {
            now: UnixTime(1_000),
            leeway: 5,
            longest: 300,
        },
        needs_jti: true,
    };

    fn claims() -> Value {
        json!({"iss": "a", "sub": "a", "aud": "https://op.example", "exp": 1_060, "jti": "1"})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    fn verify(claims: Value, rules: &AssertionRules<'_>) -> Result<Option<SpentId>, Error> {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let keys = VerificationKeys::of(vec![key.public().to_jwk()]);
        ClientAssertion::parse(&signed(&key, json!({}), claims))?.verify(&keys, rules)
    }

    #[test]
    fn an_assertion_for_us_is_accepted_with_an_identifier_that_counts_once() {
        let spent = verify(claims(), &RULES).unwrap().unwrap();
        assert_eq!(spent, verify(claims(), &RULES).unwrap().unwrap());
        assert_eq!(spent.expires, UnixTime(1_065));
        let other = verify(with("jti", json!("2")), &RULES).unwrap().unwrap();
        assert_ne!(spent.id, other.id);
    }

    #[test]
    fn an_assertion_of_another_key_audience_or_time_is_refused() {
        for bad in [
            with("aud", json!("https://other.example")),
            with("exp", json!(900)),
            with("exp", json!(9_000)),
            with("sub", json!("b")),
            with("jti", json!("")),
            with("jti", json!("x".repeat(257))),
        ] {
            assert_eq!(verify(bad, &RULES).unwrap_err().code, Code::InvalidClient);
        }
        let (key, other) = (
            PrivateKey::generate(KeyType::P256).unwrap(),
            PrivateKey::generate(KeyType::P256).unwrap(),
        );
        let keys = VerificationKeys::of(vec![other.public().to_jwk()]);
        let assertion = ClientAssertion::parse(&signed(&key, json!({}), claims())).unwrap();
        assert!(assertion.verify(&keys, &RULES).is_err());
    }

    #[test]
    fn the_strictest_rules_want_one_audience_and_the_loosest_no_jti() {
        let several = with("aud", json!(["https://op.example", "https://b.example"]));
        assert!(verify(several.clone(), &RULES).is_ok());
        let strict = AssertionRules {
            single_audience: true,
            ..RULES
        };
        assert!(verify(several, &strict).is_err());
        let loose = AssertionRules {
            needs_jti: false,
            ..RULES
        };
        let mut without = claims();
        without.as_object_mut().unwrap().remove("jti");
        assert_eq!(verify(without.clone(), &loose).unwrap(), None);
        assert!(verify(without, &RULES).is_err());
    }
}
