//! The token endpoint's request and response (RFC 6749 §4.5, §5.1; OpenID4VCI 1.0 §6).

use selfsame_crypto::{
    SecretString,
    json::{self, JsonError, Limits},
};
use serde::{Deserialize, Serialize};

use crate::{
    details::AuthorizationDetail,
    error::{Code, Error},
    form::{self, Form},
    secret,
};

/// The grant type of the pre-authorized code.
pub const PRE_AUTHORIZED_CODE: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
/// The type of tokens that are used without a proof (RFC 6750).
const BEARER: &str = "bearer";
/// The type of tokens that are bound to a key (RFC 9449 §5).
const BOUND: &str = "dpop";
/// The longest code or transaction code that is accepted, in bytes.
const MAX_CODE: usize = 512;

/// A token request with the pre-authorized code grant.
#[derive(Clone, Debug)]
pub struct TokenRequest {
    /// The code from the credential offer.
    pub pre_authorized_code: SecretString,
    /// The transaction code that the person typed in, if the offer requires one.
    pub tx_code: Option<SecretString>,
    /// The client's identifier, if it gives one.
    pub client_id: Option<String>,
    /// The requested credentials of the offer; `None` requests all of them.
    pub authorization_details: Option<Vec<AuthorizationDetail>>,
}

impl TokenRequest {
    /// Parses a form body. Unknown parameters are ignored, repeated ones are refused (RFC 6749 §3.2).
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let form = Form::parse(body).map_err(|_| {
            let reason = "the form is malformed or repeats a parameter";
            Error::new(Code::InvalidRequest, reason)
        })?;
        Self::take(form)
    }

    /// As [`Self::parse`], of a form that was read already.
    pub fn take(mut form: Form) -> Result<Self, Error> {
        let refuse = |reason| Error::new(Code::InvalidRequest, reason);
        match form.take("grant_type").as_deref() {
            Some(PRE_AUTHORIZED_CODE) => {}
            Some(_) => {
                return Err(Error::new(
                    Code::UnsupportedGrantType,
                    "the grant type is not the pre-authorized code",
                ));
            }
            None => return Err(refuse("grant_type is missing")),
        }
        let code = form
            .take("pre-authorized_code")
            .ok_or(refuse("pre-authorized_code is missing"))?;
        let tx_code = form.take("tx_code");
        if code.len() > MAX_CODE || tx_code.as_ref().is_some_and(|code| code.len() > MAX_CODE) {
            return Err(refuse("a code is too long"));
        }
        // The `client_id` is stored with the token, so its length is limited. Registered identifiers are not longer.
        let client_id = form.take("client_id");
        if client_id.as_ref().is_some_and(|id| id.len() > MAX_CODE) {
            return Err(refuse("client_id is too long"));
        }
        Ok(Self {
            pre_authorized_code: SecretString::from(code),
            tx_code: tx_code.map(SecretString::from),
            client_id,
            authorization_details: form
                .take("authorization_details")
                .map(|text| AuthorizationDetail::parse_request(&text))
                .transpose()?,
        })
    }

    /// The form's parameters.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut parameters = vec![
            ("grant_type".to_owned(), PRE_AUTHORIZED_CODE.to_owned()),
            (
                "pre-authorized_code".to_owned(),
                self.pre_authorized_code.expose().to_owned(),
            ),
        ];
        if let Some(tx_code) = &self.tx_code {
            parameters.push(("tx_code".to_owned(), tx_code.expose().to_owned()));
        }
        if let Some(client_id) = &self.client_id {
            parameters.push(("client_id".to_owned(), client_id.clone()));
        }
        if let Some(details) = &self.authorization_details
            && let Ok(text) = serde_json::to_string(details)
        {
            parameters.push(("authorization_details".to_owned(), text));
        }
        parameters
    }

    /// The request as a form body.
    pub fn to_form(&self) -> SecretString {
        SecretString::from(form::encode(&self.parameters()))
    }
}

/// The token endpoint's response.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TokenResponse {
    /// The access token for the credential endpoint.
    #[serde(with = "secret")]
    pub access_token: SecretString,
    /// `Bearer`, or `DPoP` for a token that is bound to a key.
    pub token_type: String,
    /// The token's lifetime, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// The credential datasets that may be requested, if the token request had authorization details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_details: Option<Vec<AuthorizationDetail>>,
}

impl TokenResponse {
    /// Parses a response. Unknown members are ignored (OpenID4VCI 1.0 §6.2).
    pub fn parse(body: &[u8]) -> Result<Self, TokenResponseError> {
        let response: Self = json::parse_as(body, &Limits::default())?;
        // RFC 6749 §7.1: a client must not use a token of a type it does not understand.
        let is_bearer = response.token_type.eq_ignore_ascii_case(BEARER);
        if !is_bearer && !response.is_bound() {
            return Err(TokenResponseError::Type);
        }
        if response.access_token.expose().is_empty() {
            return Err(TokenResponseError::Empty);
        }
        Ok(response)
    }

    /// Whether the token is used with proofs of possession of the key that it is bound to (RFC 9449 §5).
    pub fn is_bound(&self) -> bool {
        self.token_type.eq_ignore_ascii_case(BOUND)
    }
}

/// Why a token response is refused.
#[derive(Debug, thiserror::Error)]
pub enum TokenResponseError {
    /// The body is not the expected JSON.
    #[error("the token response is malformed")]
    Json(#[from] JsonError),
    /// The token type is neither `Bearer` nor `DPoP`.
    #[error("the token type is neither Bearer nor DPoP")]
    Type,
    /// The access token is empty.
    #[error("the access token is empty")]
    Empty,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(extra: &str) -> Result<TokenRequest, Error> {
        let grant = form::encode(&[("grant_type", PRE_AUTHORIZED_CODE)]);
        TokenRequest::parse(format!("{grant}{extra}").as_bytes())
    }

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        let request = request("&pre-authorized_code=abc&tx_code=12%2034&unknown=1").unwrap();
        let again = TokenRequest::parse(request.to_form().expose().as_bytes()).unwrap();
        assert_eq!(again.pre_authorized_code.expose(), "abc");
        assert_eq!(again.tx_code.unwrap().expose(), "12 34");
        assert!(again.client_id.is_none());
        assert!(again.authorization_details.is_none());
    }

    #[test]
    fn details_are_read_from_a_request() {
        let details = form::encode(&[(
            "authorization_details",
            r#"[{"type":"openid_credential","credential_configuration_id":"a"}]"#,
        )]);
        let request = request(&format!("&pre-authorized_code=abc&{details}")).unwrap();
        assert_eq!(
            request.authorization_details.as_deref(),
            Some(&[AuthorizationDetail::requesting("a")][..])
        );
        let again = TokenRequest::parse(request.to_form().expose().as_bytes()).unwrap();
        assert_eq!(again.authorization_details, request.authorization_details);
    }

    #[test]
    fn a_request_with_a_repeated_parameter_is_refused() {
        let error = request("&pre-authorized_code=a&pre-authorized_code=b").unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
    }

    #[test]
    fn a_request_without_a_code_is_refused() {
        assert_eq!(request("").unwrap_err().code, Code::InvalidRequest);
        let long = "a".repeat(MAX_CODE + 1);
        for long in [
            format!("&pre-authorized_code={long}"),
            format!("&pre-authorized_code=a&tx_code={long}"),
            format!("&pre-authorized_code=a&client_id={long}"),
        ] {
            let error = request(&long).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest);
        }
    }

    #[test]
    fn another_grant_type_is_refused() {
        let error = TokenRequest::parse(b"grant_type=authorization_code&code=a").unwrap_err();
        assert_eq!(error.code, Code::UnsupportedGrantType);
        let error = TokenRequest::parse(b"pre-authorized_code=a").unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
    }

    #[test]
    fn a_response_is_read_and_unknown_members_ignored() {
        let body = br#"{"access_token":"t","token_type":"bearer","expires_in":60,"c_nonce":"old"}"#;
        let response = TokenResponse::parse(body).unwrap();
        assert_eq!(response.access_token.expose(), "t");
        assert_eq!(response.expires_in, Some(60));
    }

    #[test]
    fn a_token_is_bound_to_a_key_if_its_type_says_so() {
        let is_bound = |kind: &str| {
            let body = format!(r#"{{"access_token":"t","token_type":"{kind}"}}"#);
            TokenResponse::parse(body.as_bytes()).unwrap().is_bound()
        };
        assert!(is_bound("DPoP") && is_bound("dpop"));
        assert!(!is_bound("Bearer"));
    }

    #[test]
    fn a_response_of_another_token_type_is_refused() {
        assert!(matches!(
            TokenResponse::parse(br#"{"access_token":"t","token_type":"mac"}"#),
            Err(TokenResponseError::Type)
        ));
        assert!(matches!(
            TokenResponse::parse(br#"{"access_token":"","token_type":"Bearer"}"#),
            Err(TokenResponseError::Empty)
        ));
        assert!(matches!(
            TokenResponse::parse(br#"{"token_type":"Bearer"}"#),
            Err(TokenResponseError::Json(_))
        ));
    }

    #[test]
    fn codes_and_tokens_do_not_show_in_debug() {
        let request = request("&pre-authorized_code=hidden-code&tx_code=hidden-pin").unwrap();
        let body = br#"{"access_token":"hidden-token","token_type":"Bearer"}"#;
        let shown = format!("{request:?} {:?}", TokenResponse::parse(body).unwrap());
        assert!(!shown.contains("hidden"), "{shown}");
    }
}
