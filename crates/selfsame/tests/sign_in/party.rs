//! The relying parties: one of eSignet's interface, and one of OpenID Connect.

use std::time::{SystemTime, UNIX_EPOCH};

use selfsame_crypto::PrivateKey;
use selfsame_crypto::encoding::{base64_encode, base64url_encode};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::time::UnixTime;
use serde_json::{Value, json};

use crate::esignet::ACR;
use crate::http::{Reply, Request};
use crate::place::{CalledReplica, enveloped};

pub const REDIRECT_URI: &str = "https://rp.example/callback";
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const FORM: &str = "application/x-www-form-urlencoded";
const ASSERTED: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A relying party of eSignet's interface, which signs its authentication.
pub struct SigningParty {
    pub id: String,
    key: PrivateKey,
    audience: String,
}

/// A relying party of OpenID Connect, with a secret.
pub struct SecretParty {
    pub id: String,
    secret: String,
}

impl SigningParty {
    /// Registers one with the operator's token.
    pub fn register(at: &CalledReplica, operator: &str) -> Self {
        let id = format!("party-{}", unique());
        let key = PrivateKey::generate_rsa().unwrap();
        let client = json!({
            "clientId": id,
            "clientName": "A relying party",
            "publicKey": key.public().to_jwk().to_value(),
            "relyingPartyId": "mock-relying-party-id",
            "userClaims": ["name", "email", "gender"],
            "authContextRefs": [ACR],
            "logoUri": "https://rp.example/logo.png",
            "redirectUris": [REDIRECT_URI],
            "grantTypes": ["authorization_code"],
            "clientAuthMethods": ["private_key_jwt"],
        });
        let path = "/v1/esignet/client-mgmt/oidc-client";
        let request = at.request("POST", path).bearer(operator);
        let made = request.json(&enveloped(&client)).send().unwrap();
        assert_eq!(made.json()["errors"], json!([]), "{made:?}");
        let audience = format!("{}v1/esignet/oauth/v2/token", at.origin);
        Self { id, key, audience }
    }

    /// The request that redeems a code, with an assertion of its own.
    pub fn redemption(&self, at: &CalledReplica, code: &str) -> Request {
        let now = now().0;
        let claims = json!({
            "iss": self.id, "sub": self.id, "aud": self.audience,
            "iat": now, "exp": now + 60, "jti": unique(),
        });
        let unsigned = Unsigned::new(&json!({"alg": "RS256"}), &claims);
        let signature = self.key.sign(unsigned.signing_input()).unwrap();
        let form = form(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &self.id),
            ("client_assertion_type", ASSERTED),
            ("client_assertion", &unsigned.finish(&signature)),
            ("redirect_uri", REDIRECT_URI),
            ("code_verifier", VERIFIER),
        ]);
        let request = at.request("POST", "/v1/esignet/oauth/v2/token");
        request.body(FORM, form)
    }
}

impl SecretParty {
    /// Registers one with the operator's token.
    pub fn register(at: &CalledReplica, operator: &str) -> Self {
        let client = json!({
            "client_name": "Another relying party",
            "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code", "refresh_token"],
        });
        let request = at.request("POST", "/api/sign-in/clients").bearer(operator);
        let made = request.json(&client).send().unwrap();
        assert_eq!(made.status, 201, "{made:?}");
        let member = |name: &str| made.json()[name].as_str().unwrap().to_owned();
        Self {
            id: member("client_id"),
            secret: member("client_secret"),
        }
    }

    /// A call of one of the provider's endpoints.
    pub fn call(&self, at: &CalledReplica, endpoint: &str, fields: &[(&str, &str)]) -> Request {
        let basic = base64_encode(format!("{}:{}", self.id, self.secret).as_bytes());
        let request = at.request("POST", &format!("/oidc/{endpoint}"));
        let request = request.header("Authorization", &format!("Basic {basic}"));
        request.body(FORM, form(fields))
    }

    /// The request that redeems a code.
    pub fn redemption(&self, at: &CalledReplica, code: &str) -> Request {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", REDIRECT_URI),
            ("code_verifier", VERIFIER),
        ];
        self.call(at, "token", &fields)
    }

    /// The request that redeems a refresh token.
    pub fn refreshing(&self, at: &CalledReplica, token: &str) -> Request {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        self.call(at, "token", &fields)
    }
}

/// A text that no other call returns.
pub fn unique() -> String {
    base64url_encode(&random_seed())
}

pub fn now() -> UnixTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    UnixTime(now.unwrap().as_secs())
}

pub fn form(fields: &[(&str, &str)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields).finish()
}

/// A member of an answer that must have succeeded.
#[track_caller]
pub fn member(reply: &Reply, pointer: &str) -> String {
    let json: Value = reply.json();
    let found = json.pointer(pointer).and_then(Value::as_str);
    let found = found.unwrap_or_else(|| panic!("no {pointer} in {} {json}", reply.status));
    found.to_owned()
}

/// The OAuth error of an answer.
#[track_caller]
pub fn assert_oauth_error(reply: &Reply, code: &str) {
    let shown = String::from_utf8_lossy(&reply.body);
    assert_eq!(
        (reply.status, reply.json()["error"].as_str()),
        (400, Some(code)),
        "{shown}"
    );
}
