//! The tokens of a provider: what they say, and what an access token must say to be accepted.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::{sha256, sha512};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, SecretString};
use selfsame_oauth::jwt::JwtTime;
use selfsame_oauth::jwt::{Jwt, VerificationKeys};
use selfsame_oauth::{AuthorizationDetail, Code, Error, ScopeSet, secret};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The media type of an access token (RFC 9068 §2.1).
const ACCESS_TOKEN: &str = "at+jwt";
/// The media type of a logout token (OpenID Connect Back-Channel Logout §2.4).
const LOGOUT_TOKEN: &str = "logout+jwt";
/// The event that a logout token tells (OpenID Connect Back-Channel Logout §2.4).
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// What separates the sign-in from the token in the identifier of an access token.
const PART: char = '.';

/// The key that signs a token.
#[derive(Clone, Debug)]
pub struct TokenKey {
    /// Its identifier.
    pub kid: String,
    /// The algorithm.
    pub alg: Algorithm,
}

/// Who a token is about and for.
#[derive(Clone, Debug)]
pub struct TokenFacts {
    /// The provider.
    pub issuer: String,
    /// The client.
    pub client_id: String,
    /// The subject, as the client knows it.
    pub subject: String,
    /// When it is made.
    pub now: UnixTime,
    /// Its end.
    pub expires: UnixTime,
}

/// How a person was authenticated.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Authentication {
    /// When.
    pub at: UnixTime,
    /// The class that was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acr: Option<String>,
    /// The methods (RFC 8176).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<String>,
    /// The identifier of the session, for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
}

/// What only an access token says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AccessFacts {
    /// The record of the sign-in that it belongs to.
    pub sign_in: String,
    /// What tells it from others of that sign-in.
    pub number: String,
    /// Its scopes.
    pub scope: ScopeSet,
    /// The thumbprint of the key that it is bound to.
    pub jkt: Option<String>,
}

/// An access token that holds: by us, for us, not expired. Whether it was revoked, its sign-in says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AcceptedToken {
    /// What only an access token says.
    pub access: AccessFacts,
    /// The client.
    pub client_id: String,
    /// The subject.
    pub subject: String,
    /// When it was made.
    pub issued: UnixTime,
    /// Its end.
    pub expires: UnixTime,
}

/// The token endpoint's answer (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
#[derive(Clone, Debug, Serialize)]
pub struct GrantedTokens {
    /// The access token.
    #[serde(with = "secret")]
    pub access_token: SecretString,
    /// `Bearer` or `DPoP`.
    pub token_type: &'static str,
    /// The access token's lifetime, in seconds.
    pub expires_in: u64,
    /// The refresh token.
    #[serde(with = "secret::option", skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<SecretString>,
    /// The scopes that were granted.
    pub scope: String,
    /// The credentials that were granted one by one (OpenID4VCI 1.0 §6.2).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorization_details: Vec<AuthorizationDetail>,
    /// The ID token, if `openid` was granted.
    #[serde(with = "secret::option", skip_serializing_if = "Option::is_none")]
    pub id_token: Option<SecretString>,
}

impl TokenKey {
    fn header(&self, typ: Option<&str>) -> Value {
        let mut header = json!({ "alg": self.alg.as_str(), "kid": self.kid });
        if let (Some(typ), Value::Object(members)) = (typ, &mut header) {
            members.insert("typ".to_owned(), Value::from(typ));
        }
        header
    }

    /// An access token (RFC 9068 §2.2).
    #[must_use]
    pub fn access_token(&self, facts: &TokenFacts, access: &AccessFacts) -> Unsigned {
        let mut claims = facts.claims();
        let jti = format!("{}{PART}{}", access.sign_in, access.number);
        claims.insert("aud".to_owned(), facts.issuer.as_str().into());
        claims.insert("client_id".to_owned(), facts.client_id.as_str().into());
        claims.insert("scope".to_owned(), access.scope.to_string().into());
        claims.insert("jti".to_owned(), jti.into());
        if let Some(jkt) = &access.jkt {
            claims.insert("cnf".to_owned(), json!({ "jkt": jkt }));
        }
        Unsigned::new(&self.header(Some(ACCESS_TOKEN)), &Value::Object(claims))
    }

    /// An ID token (OpenID Connect Core §2). `further` are claims about the person and the client's `nonce`.
    #[must_use]
    pub fn id_token(
        &self,
        facts: &TokenFacts,
        authentication: &Authentication,
        further: Map<String, Value>,
    ) -> Unsigned {
        let mut claims = further;
        claims.extend(facts.claims());
        claims.insert("aud".to_owned(), facts.client_id.as_str().into());
        claims.insert("auth_time".to_owned(), authentication.at.0.into());
        if let Some(acr) = &authentication.acr {
            claims.insert("acr".to_owned(), acr.as_str().into());
        }
        if !authentication.amr.is_empty() {
            claims.insert("amr".to_owned(), authentication.amr.clone().into());
        }
        if let Some(sid) = &authentication.sid {
            claims.insert("sid".to_owned(), sid.as_str().into());
        }
        Unsigned::new(&self.header(None), &Value::Object(claims))
    }

    /// Userinfo as a JWT (OpenID Connect Core §5.3.2).
    #[must_use]
    pub fn userinfo(&self, facts: &TokenFacts, claims: Map<String, Value>) -> Unsigned {
        let mut claims = claims;
        claims.insert("iss".to_owned(), facts.issuer.as_str().into());
        claims.insert("aud".to_owned(), facts.client_id.as_str().into());
        claims.insert("sub".to_owned(), facts.subject.as_str().into());
        Unsigned::new(&self.header(Some("JWT")), &Value::Object(claims))
    }

    /// A logout token (OpenID Connect Back-Channel Logout §2.4).
    #[must_use]
    pub fn logout_token(&self, facts: &TokenFacts, sid: Option<&str>, jti: &str) -> Unsigned {
        let mut claims = facts.claims();
        claims.insert("aud".to_owned(), facts.client_id.as_str().into());
        claims.insert("jti".to_owned(), jti.into());
        claims.insert("events".to_owned(), json!({ LOGOUT_EVENT: {} }));
        if let Some(sid) = sid {
            claims.insert("sid".to_owned(), sid.into());
        }
        Unsigned::new(&self.header(Some(LOGOUT_TOKEN)), &Value::Object(claims))
    }
}

impl TokenFacts {
    fn claims(&self) -> Map<String, Value> {
        let members = [
            ("iss", Value::from(self.issuer.as_str())),
            ("sub", self.subject.as_str().into()),
            ("iat", self.now.0.into()),
            ("exp", self.expires.0.into()),
        ];
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// The claim `at_hash` of an ID token beside this access token (OpenID Connect Core §3.1.3.6).
#[must_use]
pub fn at_hash(access_token: &str, alg: Algorithm) -> String {
    let digest = match alg {
        // The hash of Ed25519 is SHA-512 (RFC 8032 §5.1).
        Algorithm::EdDsa => sha512(access_token.as_bytes()).to_vec(),
        _ => sha256(access_token.as_bytes()).to_vec(),
    };
    let (half, _) = digest.split_at(digest.len() / 2);
    base64url_encode(half)
}

impl AcceptedToken {
    /// Accepts an access token by one of our keys.
    ///
    /// # Errors
    /// `invalid_token`.
    pub fn accept(
        token: &str,
        issuer: &str,
        keys: &VerificationKeys,
        now: UnixTime,
    ) -> Result<Self, Error> {
        let refused = || Error::new(Code::InvalidToken, "the access token is unknown or expired");
        let jwt = Jwt::parse(token).map_err(|_| refused())?;
        // RFC 9068 §4: the type keeps ID tokens out.
        let is_ours = jwt.header().is_of_type(ACCESS_TOKEN) && jwt.text("iss") == Some(issuer);
        let time = JwtTime {
            now,
            leeway: 0,
            longest: u64::MAX / 4,
        };
        let alg = [jwt.header().alg];
        let checked = jwt.verify_with(keys, &alg);
        let checked = checked.and_then(|()| jwt.check_audience(&[issuer]));
        let expires = checked.and_then(|()| jwt.check_times(time));
        let expires = expires.map_err(|_| refused())?;
        let jti = jwt.text("jti").and_then(|jti| jti.split_once(PART));
        let (sign_in, number) = jti.filter(|_| is_ours).ok_or_else(refused)?;
        let text = |name| jwt.text(name).map(str::to_owned).ok_or_else(refused);
        let jkt = jwt.claims().get("cnf").and_then(|cnf| cnf.get("jkt"));
        Ok(Self {
            access: AccessFacts {
                sign_in: sign_in.to_owned(),
                number: number.to_owned(),
                scope: ScopeSet::parse(&text("scope")?)?,
                jkt: jkt.and_then(Value::as_str).map(str::to_owned),
            },
            client_id: text("client_id")?,
            subject: text("sub")?,
            issued: jwt.time("iat").ok().flatten().unwrap_or_default(),
            expires,
        })
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::{KeyType, PrivateKey};

    use super::*;

    const ISSUER: &str = "https://op.example/oidc";

    struct World {
        key: PrivateKey,
        token_key: TokenKey,
        keys: VerificationKeys,
    }

    fn world() -> World {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let keys = VerificationKeys::of(vec![key.public().to_jwk().with_kid("1")]);
        let token_key = TokenKey {
            kid: "1".to_owned(),
            alg: Algorithm::Es256,
        };
        World {
            key,
            token_key,
            keys,
        }
    }

    impl World {
        fn sign(&self, draft: Unsigned) -> String {
            let signature = self.key.sign(draft.signing_input()).unwrap();
            draft.finish(&signature)
        }
    }

    fn facts() -> TokenFacts {
        TokenFacts {
            issuer: ISSUER.to_owned(),
            client_id: "rp".to_owned(),
            subject: "s".to_owned(),
            now: UnixTime(1_000),
            expires: UnixTime(1_600),
        }
    }

    fn access() -> AccessFacts {
        AccessFacts {
            sign_in: "r".to_owned(),
            number: "n".to_owned(),
            scope: ScopeSet::parse("openid email").unwrap(),
            jkt: Some("k".to_owned()),
        }
    }

    #[test]
    fn an_access_token_is_accepted_until_its_end_by_its_own_issuer() {
        let world = world();
        let token = world.sign(world.token_key.access_token(&facts(), &access()));
        let accept =
            |issuer, now| AcceptedToken::accept(&token, issuer, &world.keys, UnixTime(now));
        let accepted = accept(ISSUER, 1_599).unwrap();
        assert_eq!(accepted.access, access());
        assert_eq!(
            (accepted.client_id.as_str(), accepted.subject.as_str()),
            ("rp", "s")
        );
        assert_eq!(accept(ISSUER, 1_600).unwrap_err().code, Code::InvalidToken);
        assert!(accept("https://other.example", 1_599).is_err());
        let other = VerificationKeys::default();
        assert!(AcceptedToken::accept(&token, ISSUER, &other, UnixTime(1_000)).is_err());
    }

    #[test]
    fn an_id_token_is_no_access_token() {
        let world = world();
        let authentication = Authentication::default();
        let mut further = Map::new();
        further.insert("scope".to_owned(), "openid".into());
        further.insert("sub".to_owned(), "another".into());
        let token = world.sign(world.token_key.id_token(&facts(), &authentication, further));
        let claims = Jwt::parse(&token).unwrap().into_claims();
        // What is claimed about a person never replaces what the token says of itself.
        assert_eq!(claims.get("sub"), Some(&Value::from("s")));
        assert!(AcceptedToken::accept(&token, ISSUER, &world.keys, UnixTime(1_000)).is_err());
    }

    #[test]
    fn the_hash_of_an_access_token_is_that_of_the_specification() {
        // Half of the SHA-256 of the text, computed with another library.
        let token = "jHkWEdUXMU1BwAsC4vtUsZwnvTvTxEoz0htlfX9PQ4A";
        assert_eq!(at_hash(token, Algorithm::Rs256), "ce0n62tp2VgG7tZbbvmLkQ");
        assert_eq!(at_hash(token, Algorithm::EdDsa).len(), 43);
    }

    #[test]
    fn a_logout_token_has_its_event_and_no_nonce() {
        let world = world();
        let draft = world.token_key.logout_token(&facts(), Some("sid"), "j");
        let jwt = Jwt::parse(&world.sign(draft)).unwrap();
        assert!(jwt.header().is_of_type(LOGOUT_TOKEN));
        assert_eq!(jwt.claims()["events"], json!({ LOGOUT_EVENT: {} }));
        assert!(!jwt.claims().contains_key("nonce"));
        assert_eq!(jwt.text("sid"), Some("sid"));
    }
}
