//! Authorization requests as signed JWTs (RFC 9101).

use selfsame_crypto::Algorithm;
use serde_json::Value;

use crate::error::{Code, Error};
use crate::form::Form;
use crate::jwt::{Jwt, JwtTime, VerificationKeys};
use crate::spent::SpentId;

/// The media type of a request object (RFC 9101 §10.2).
const TYPE: &str = "oauth-authz-req+jwt";
/// Claims about the object itself, which are no parameters.
const OF_THE_OBJECT: [&str; 7] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];

/// A request object that was read. Nothing of it may be used before [`RequestObject::verify`].
#[derive(Clone, Debug)]
pub struct RequestObject(Jwt);

/// What is demanded of a request object.
#[derive(Clone, Copy, Debug)]
pub struct RequestObjectRules<'a> {
    /// The client that sends it.
    pub client_id: &'a str,
    /// The server's identifier, which must be an audience.
    pub issuer: &'a str,
    /// The algorithms that are allowed.
    pub algorithms: &'a [Algorithm],
    /// When it is judged.
    pub time: JwtTime,
    /// Whether it needs `nbf` and `exp` (FAPI 2.0 Message Signing §5.3.1).
    pub needs_times: bool,
}

/// The parameters of a request object that holds.
#[derive(Clone, Debug)]
pub struct SignedParameters {
    /// The parameters. They replace those outside of the object (RFC 9101 §5).
    pub form: Form,
    /// The identifier that must be accepted once only, if it has one.
    pub spent: Option<SpentId>,
}

impl RequestObject {
    /// Reads a request object.
    ///
    /// # Errors
    /// `invalid_request_object`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let jwt = Jwt::parse(text).map_err(|_| invalid("the request object is malformed"))?;
        // RFC 9101 §4: the type may be left out; one of another kind of token is refused (RFC 8725 §3.11).
        let typ = jwt.header().typ.as_deref();
        match typ.is_none() || jwt.header().is_of_type(TYPE) || jwt.header().is_of_type("JWT") {
            true => Ok(Self(jwt)),
            false => Err(invalid("the request object has the type of another token")),
        }
    }

    /// The client that it names, to find the client's keys.
    pub fn client_id(&self) -> Option<&str> {
        self.0.text("client_id")
    }

    /// Verifies the object with the client's keys.
    ///
    /// # Errors
    /// `invalid_request_object`.
    pub fn verify(
        self,
        keys: &VerificationKeys,
        rules: &RequestObjectRules<'_>,
    ) -> Result<SignedParameters, Error> {
        let jwt = &self.0;
        jwt.verify_with(keys, rules.algorithms)
            .map_err(|_| invalid("the request object is not signed by a key of the client"))?;
        let by_client = jwt.text("client_id") == Some(rules.client_id);
        let issued = jwt.text("iss");
        if !by_client || issued.is_some_and(|iss| iss != rules.client_id) {
            return Err(invalid("the request object is by another client"));
        }
        if jwt.check_audience(&[rules.issuer]).is_err() {
            return Err(invalid("the request object is for another server"));
        }
        let has = |name| jwt.claims().contains_key(name);
        if has("request") || has("request_uri") {
            return Err(invalid("a request object contains another one"));
        }
        let expires = match has("exp") {
            true => Some(jwt.check_times(rules.time).map_err(|_| late())?),
            false => None,
        };
        if rules.needs_times && !(has("exp") && has("nbf")) {
            return Err(invalid("exp or nbf of the request object is missing"));
        }
        let spent = jwt.text("jti").zip(expires);
        let spent = spent.map(|(jti, end)| SpentId::of("request", rules.client_id, jti, end));
        let form = parameters(self.0);
        Ok(SignedParameters { form, spent })
    }
}

/// RFC 9101 §4: texts are parameters as they are; numbers and objects are parameters as JSON.
fn parameters(jwt: Jwt) -> Form {
    let claims = jwt.into_claims().into_iter();
    let parameters = claims.filter(|(name, _)| !OF_THE_OBJECT.contains(&name.as_str()));
    Form::of_parameters(parameters.map(|(name, value)| match value {
        Value::String(text) => (name, text),
        other => (name, other.to_string()),
    }))
}

const fn late() -> Error {
    invalid("the request object has expired or is not valid yet")
}

const fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidRequestObject, reason)
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;
    use selfsame_crypto::{KeyType, PrivateKey};
    use serde_json::json;

    use super::*;
    use crate::jwt::tests::signed;

    const RULES: RequestObjectRules<'_> = RequestObjectRules {
        client_id: "a",
        issuer: "https://op.example",
        algorithms: &[Algorithm::Es256],
        time: JwtTime {
            now: UnixTime(1_000),
            leeway: 5,
            longest: 3_600,
        },
        needs_times: false,
    };

    fn claims() -> Value {
        json!({
            "iss": "a", "aud": "https://op.example", "client_id": "a", "exp": 1_060, "jti": "1",
            "scope": "openid", "max_age": 60, "claims": {"userinfo": {"name": null}}
        })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    fn verify(header: Value, claims: Value) -> Result<SignedParameters, Error> {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let keys = VerificationKeys::of(vec![key.public().to_jwk()]);
        RequestObject::parse(&signed(&key, header, claims))?.verify(&keys, &RULES)
    }

    #[test]
    fn the_parameters_of_an_object_are_those_of_a_form() {
        let signed = verify(json!({"typ": "oauth-authz-req+jwt"}), claims()).unwrap();
        assert_eq!(signed.form.get("scope"), Some("openid"));
        assert_eq!(signed.form.get("max_age"), Some("60"));
        assert_eq!(
            signed.form.get("claims"),
            Some(r#"{"userinfo":{"name":null}}"#)
        );
        assert_eq!(signed.form.get("exp"), None);
        assert!(signed.spent.is_some());
    }

    #[test]
    fn an_object_by_or_for_another_party_is_refused() {
        for bad in [
            with("client_id", json!("b")),
            with("iss", json!("b")),
            with("aud", json!("https://other.example")),
            with("exp", json!(900)),
            with("request_uri", json!("https://a.example/r")),
        ] {
            let error = verify(json!({}), bad).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequestObject);
        }
        assert!(verify(json!({"typ": "dpop+jwt"}), claims()).is_err());
        let (key, other) = (
            PrivateKey::generate(KeyType::P256).unwrap(),
            PrivateKey::generate(KeyType::P256).unwrap(),
        );
        let keys = VerificationKeys::of(vec![other.public().to_jwk()]);
        let object = RequestObject::parse(&signed(&key, json!({}), claims())).unwrap();
        assert!(object.verify(&keys, &RULES).is_err());
    }
}
