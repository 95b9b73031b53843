//! A user interface of eSignet's: the seven calls, each at the process that the test names.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use serde_json::{Value, json};

use crate::http::Reply;
use crate::party::{CHALLENGE, REDIRECT_URI, SigningParty, member};
use crate::place::{CalledReplica, PERSON, SECRET, enveloped, until_answered};

/// The class of a sign-in by a one-time password.
pub const ACR: &str = "mosip:idp:acr:generated-code";
/// The password that is nobody's.
pub const WRONG: &str = "000000";

/// A sign-in by eSignet's interface, as far as it is.
#[derive(Default)]
pub struct SevenCalls {
    csrf: String,
    transaction: String,
    hash: String,
    pub code: String,
    pub access_token: String,
}

impl SevenCalls {
    /// The call 1.
    pub fn csrf(&mut self, at: &CalledReplica) {
        let answer = until_answered(&at.request("GET", "/v1/esignet/csrf/token"));
        self.csrf = member(&answer, "/token");
    }

    /// The call 2.
    pub fn details(&mut self, at: &CalledReplica, party: &SigningParty) {
        let request = json!({
            "clientId": party.id,
            "scope": "openid profile",
            "responseType": "code",
            "redirectUri": REDIRECT_URI,
            "display": "popup",
            "prompt": "login",
            "acrValues": ACR,
            "nonce": "n",
            "state": "s",
            "claimsLocales": "en",
            "codeChallenge": CHALLENGE,
            "codeChallengeMethod": "S256",
        });
        let answer = self.post(at, "v2/oauth-details", &request);
        let text = String::from_utf8(answer.body.clone()).unwrap();
        let (_, response) = text.split_once("\"response\":").unwrap();
        let (response, _) = response.split_once(",\"errors\":").unwrap();
        self.hash = base64url_encode(&sha256(response.as_bytes()));
        self.transaction = member(&answer, "/response/transactionId");
    }

    /// The call 3.
    pub fn send_otp(&self, at: &CalledReplica) -> Reply {
        let request = json!({
            "transactionId": self.transaction,
            "individualId": PERSON,
            "otpChannels": ["PHONE"],
        });
        self.post(at, "send-otp", &request)
    }

    /// The call 4.
    pub fn authenticate(&self, at: &CalledReplica, otp: &str) -> Reply {
        let challenge =
            json!({"authFactorType": "OTP", "challenge": otp, "format": "alpha-numeric"});
        let request = json!({
            "transactionId": self.transaction,
            "individualId": PERSON,
            "challengeList": [challenge],
        });
        self.post(at, "v3/authenticate", &request)
    }

    /// The call 5.
    pub fn agree(&mut self, at: &CalledReplica) {
        let request = json!({
            "transactionId": self.transaction,
            "acceptedClaims": ["name", "email"],
            "permittedAuthorizeScopes": [],
        });
        let answer = self.post(at, "auth-code", &request);
        self.code = member(&answer, "/response/code");
    }

    /// The call 6.
    pub fn redeem(&mut self, at: &CalledReplica, party: &SigningParty) {
        let answer = until_answered(&party.redemption(at, &self.code));
        self.access_token = member(&answer, "/access_token");
    }

    /// The call 7.
    pub fn userinfo(&self, at: &CalledReplica) -> Reply {
        let request = at.request("GET", "/v1/esignet/oidc/userinfo");
        until_answered(&request.bearer(&self.access_token))
    }

    /// The calls 1 to 5.
    pub fn until_code(at: &CalledReplica, party: &SigningParty) -> Self {
        let mut calls = Self::default();
        calls.csrf(at);
        calls.details(at, party);
        assert_no_errors(&calls.send_otp(at));
        assert_no_errors(&calls.authenticate(at, SECRET));
        calls.agree(at);
        calls
    }

    fn post(&self, at: &CalledReplica, call: &str, request: &Value) -> Reply {
        let request = at
            .request("POST", &format!("/v1/esignet/authorization/{call}"))
            .header("Cookie", &format!("XSRF-TOKEN={}", self.csrf))
            .header("X-XSRF-TOKEN", &self.csrf)
            .header("oauth-details-key", &self.transaction)
            .header("oauth-details-hash", &self.hash)
            .json(&enveloped(request));
        until_answered(&request)
    }
}

#[track_caller]
pub fn assert_no_errors(reply: &Reply) {
    assert_eq!(code(reply), "", "{:?}", reply.json());
}

/// The code of eSignet's error, if there is one.
pub fn code(reply: &Reply) -> String {
    let code = &reply.json()["errors"][0]["errorCode"];
    code.as_str().unwrap_or_default().to_owned()
}
