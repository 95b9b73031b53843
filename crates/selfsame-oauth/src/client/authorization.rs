//! The authorization code grant as a client takes it: the request, the response, and the redemption of the code (RFC 6749
//! §4.1, RFC 7636, RFC 9126, RFC 9207).

use selfsame_crypto::SecretString;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::hash::ct_eq;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::form::{self, Form};
use crate::grant::GrantType;
use crate::metadata::ServerMetadata;
use crate::pkce::{CodeChallenge, S256};
use crate::secret;

/// The longest error code and explanation of a server that are kept, in bytes.
const MAX_SAID: usize = 512;

/// A code that a client asked a server for. It is kept until the response comes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RequestedCode {
    /// The server's identifier.
    pub issuer: String,
    /// Whether the server names itself in each response (RFC 9207 §3).
    pub names_itself: bool,
    /// The client's identifier.
    pub client_id: String,
    /// Where the response goes.
    pub redirect_uri: String,
    /// What the response must repeat.
    #[serde(with = "secret")]
    pub state: SecretString,
    /// The verifier of the code challenge.
    #[serde(with = "secret")]
    pub verifier: SecretString,
}

/// Why a response gives no code.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ResponseFault {
    /// The response lacks a parameter, or repeats one.
    #[error("the response of the authorization server is malformed")]
    Malformed,
    /// The response has the `state` of another request.
    #[error("the response belongs to another request")]
    OtherRequest,
    /// The response is by another server, or does not say by which (RFC 9207 §2.4).
    #[error("the response is not by the authorization server that was asked")]
    OtherServer,
    /// The server refused (RFC 6749 §4.1.2.1).
    #[error("the authorization server refused: {code}")]
    Refused {
        /// The server's error code.
        code: String,
    },
}

impl RequestedCode {
    /// A request by this client, with a fresh state and verifier.
    #[must_use]
    pub fn new(server: &ServerMetadata, client_id: &str, redirect_uri: &Url, ctx: &Ctx) -> Self {
        Self {
            issuer: server.issuer.clone(),
            names_itself: server.authorization_response_iss_parameter_supported,
            client_id: client_id.to_owned(),
            redirect_uri: redirect_uri.to_string(),
            state: ctx.token("oauth/state").into(),
            verifier: ctx.token("oauth/code_verifier").into(),
        }
    }

    /// The parameters of the authorization request, with these in addition.
    #[must_use]
    pub fn parameters(&self, further: Vec<(&str, String)>) -> Vec<(String, String)> {
        let challenge = CodeChallenge::of(self.verifier.expose());
        let own = [
            ("response_type", "code".to_owned()),
            ("client_id", self.client_id.clone()),
            ("redirect_uri", self.redirect_uri.clone()),
            ("state", self.state.expose().to_owned()),
            ("code_challenge", challenge.to_text()),
            ("code_challenge_method", S256.to_owned()),
        ];
        let all = own.into_iter().chain(further);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The address for the person's browser after the request was pushed (RFC 9126 §4).
    #[must_use]
    pub fn pushed_address(&self, endpoint: &Url, request_uri: &str) -> Url {
        let pushed = [
            ("client_id", self.client_id.as_str()),
            ("request_uri", request_uri),
        ];
        address(endpoint, &pushed)
    }

    /// The code in a response.
    ///
    /// # Errors
    /// A response of another server or to another request, and one with an error. The server is compared before anything
    /// else of the response counts (RFC 9207 §2.4).
    pub fn code(&self, mut response: Form) -> Result<SecretString, ResponseFault> {
        match response.take("iss") {
            Some(issuer) if issuer != self.issuer => return Err(ResponseFault::OtherServer),
            None if self.names_itself => return Err(ResponseFault::OtherServer),
            _ => {}
        }
        let state = response.take("state").ok_or(ResponseFault::Malformed)?;
        if !ct_eq(state.as_bytes(), self.state.expose().as_bytes()) {
            return Err(ResponseFault::OtherRequest);
        }
        match (response.take("code"), response.take("error")) {
            (Some(code), None) => Ok(code.into()),
            (None, Some(code)) if code.len() <= MAX_SAID => Err(ResponseFault::Refused { code }),
            _ => Err(ResponseFault::Malformed),
        }
    }

    /// The form that redeems the code at the token endpoint, with these parameters in addition: those by which the client
    /// authenticates (RFC 6749 §2.3.1).
    #[must_use]
    pub fn redemption(&self, code: &SecretString, further: &[(&str, &str)]) -> SecretString {
        let own = [
            ("grant_type", GrantType::AuthorizationCode.as_str()),
            ("code", code.expose()),
            ("redirect_uri", &self.redirect_uri),
            ("client_id", &self.client_id),
            ("code_verifier", self.verifier.expose()),
        ];
        form::encode(&[&own, further].concat()).into()
    }
}

/// An endpoint with these parameters in its query, beside those that it has (RFC 6749 §3.1).
#[must_use]
pub fn address<N: AsRef<str>, V: AsRef<str>>(endpoint: &Url, parameters: &[(N, V)]) -> Url {
    let mut url = endpoint.clone();
    url.query_pairs_mut().extend_pairs(parameters);
    url
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;

    use super::*;
    use crate::grant::{CodeRedemption, Grant};

    const SERVER: &str = "https://op.example";

    fn requested(names_itself: bool) -> RequestedCode {
        let endpoint = Url::parse("https://op.example/token").unwrap();
        let server = ServerMetadata {
            authorization_response_iss_parameter_supported: names_itself,
            ..ServerMetadata::pre_authorized(SERVER, endpoint)
        };
        let redirect = Url::parse("https://wallet.example/cb").unwrap();
        RequestedCode::new(
            &server,
            "wallet",
            &redirect,
            &Ctx::new(UnixTime(1), [3; 32]),
        )
    }

    fn answered(
        requested: &RequestedCode,
        change: &[(&str, &str)],
    ) -> Result<SecretString, ResponseFault> {
        let mut all = vec![
            ("code", "c"),
            ("state", requested.state.expose()),
            ("iss", SERVER),
        ];
        for (name, value) in change {
            all.retain(|(one, _)| one != name);
            all.push((name, value));
        }
        requested.code(Form::parse(form::encode(&all).as_bytes()).unwrap())
    }

    #[test]
    fn the_verifier_that_redeems_the_code_meets_the_challenge_of_the_request() {
        let requested = requested(true);
        let parameters = requested.parameters(vec![("scope", "pass".to_owned())]);
        let mut request = Form::of_parameters(parameters);
        assert_eq!(request.take("scope").as_deref(), Some("pass"));
        let challenge = request.take("code_challenge").unwrap();
        let method = request.take("code_challenge_method");
        let challenge = CodeChallenge::parse(&challenge, method.as_deref()).unwrap();
        let code = answered(&requested, &[]).unwrap();
        let form = requested.redemption(&code, &[]);
        let form = Form::parse(form.expose().as_bytes()).unwrap();
        let Grant::AuthorizationCode(CodeRedemption {
            code,
            redirect_uri,
            code_verifier,
        }) = Grant::take(form).unwrap()
        else {
            panic!("another grant");
        };
        assert_eq!(code.expose(), "c");
        assert_eq!(redirect_uri.as_deref(), Some("https://wallet.example/cb"));
        assert!(challenge.is_met_by(code_verifier.unwrap().expose()));
    }

    #[test]
    fn a_response_of_another_server_counts_for_nothing() {
        let other = ("iss", "https://evil.example");
        let strict = requested(true);
        for change in [
            &[other][..],
            &[("iss", "")],
            &[other, ("code", ""), ("error", "x")],
        ] {
            let fault = answered(&strict, change).unwrap_err();
            assert_eq!(fault, ResponseFault::OtherServer, "{change:?}");
        }
        // A server that never names itself need not, and must not name another.
        assert!(answered(&requested(false), &[("iss", "")]).is_ok());
        assert!(answered(&requested(false), &[other]).is_err());
    }

    #[test]
    fn a_response_to_another_request_or_without_a_code_is_refused() {
        let requested = requested(true);
        let fault = |change: &[(&str, &str)]| answered(&requested, change).unwrap_err();
        assert_eq!(fault(&[("state", "other")]), ResponseFault::OtherRequest);
        assert_eq!(fault(&[("state", "")]), ResponseFault::Malformed);
        assert_eq!(fault(&[("code", "")]), ResponseFault::Malformed);
        assert_eq!(fault(&[("error", "x")]), ResponseFault::Malformed);
        let refused = fault(&[("code", ""), ("error", "access_denied")]);
        let code = "access_denied".to_owned();
        assert_eq!(refused, ResponseFault::Refused { code });
    }

    #[test]
    fn an_address_keeps_the_parameters_that_the_endpoint_has() {
        let endpoint = Url::parse("https://op.example/authorize?tenant=a").unwrap();
        let requested = requested(true);
        let url = requested.pushed_address(&endpoint, "urn:x");
        assert_eq!(
            url.as_str(),
            "https://op.example/authorize?tenant=a&client_id=wallet&request_uri=urn%3Ax"
        );
    }
}
