//! A browser at the provider's own addresses: authorization, sign-in, consent.

use serde_json::{Value, json};

use crate::http::{Reply, Request};
use crate::party::{CHALLENGE, REDIRECT_URI, SecretParty, form, member};
use crate::place::{CalledReplica, PERSON, SECRET, until_answered};

/// The scopes of all sign-ins.
const SCOPE: &str = "openid email offline_access";

/// A browser, as far as its sign-in is.
#[derive(Default)]
pub struct SigningBrowser {
    /// The path of the sign-in.
    place: String,
    cookie: String,
    origin: String,
}

/// The parameters of a request.
pub fn parameters(party: &SecretParty) -> [(&str, &str); 8] {
    [
        ("response_type", "code"),
        ("client_id", &party.id),
        ("redirect_uri", REDIRECT_URI),
        ("scope", SCOPE),
        ("state", "s"),
        ("nonce", "n"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]
}

/// The request of a browser that a client sends here.
pub fn authorization(at: &CalledReplica, fields: &[(&str, &str)]) -> Request {
    at.request("GET", &format!("/oidc/authorize?{}", form(fields)))
}

impl SigningBrowser {
    /// A browser that a client sends here.
    pub fn arrive(at: &CalledReplica, party: &SecretParty) -> Self {
        let arrived = until_answered(&authorization(at, &parameters(party)));
        let place = arrived.header("location").unwrap_or_default();
        assert!(place.starts_with("/oidc/sign-in/"), "{arrived:?}");
        let cookies = arrived.all("set-cookie");
        let cookies = cookies.filter_map(|cookie| cookie.split(';').next());
        Self {
            place: place.to_owned(),
            cookie: cookies.collect::<Vec<_>>().join("; "),
            origin: at.origin.as_str().trim_end_matches('/').to_owned(),
        }
    }

    /// The person proves who they are.
    pub fn authenticate(&self, at: &CalledReplica) -> Value {
        let attempt = json!({
            "identifier": PERSON,
            "challenges": [{"factor": "password", "value": SECRET}],
        });
        let reply = self.post(at, "authentication", &attempt);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// The person agrees to all that is asked for. Returns the code.
    pub fn agree(&self, at: &CalledReplica, view: &Value) -> String {
        let claims = [&view["essential"], &view["voluntary"]];
        let claims = claims.into_iter().filter_map(Value::as_array).flatten();
        let agreement = json!({
            "claims": claims.collect::<Vec<_>>(),
            "scopes": view["scopes"],
        });
        let reply = self.post(at, "agreement", &agreement);
        member(&reply, "/parameters/code")
    }

    /// A code for a client.
    pub fn code(at: &CalledReplica, party: &SecretParty) -> String {
        let browser = Self::arrive(at, party);
        let view = browser.authenticate(at);
        browser.agree(at, &view)
    }

    fn post(&self, at: &CalledReplica, step: &str, body: &Value) -> Reply {
        let request = at
            .request("POST", &format!("{}/{step}", self.place))
            .header("Cookie", &self.cookie)
            .header("Origin", &self.origin)
            .json(body);
        until_answered(&request)
    }
}

/// What userinfo says of an access token.
pub fn userinfo(at: &CalledReplica, token: &str) -> Reply {
    until_answered(&at.request("GET", "/oidc/userinfo").bearer(token))
}
