//! Authorization responses sent by `direct_post` and `direct_post.jwt`, or returned by a browser (`dc_api`,
//! `dc_api.jwt`), and the verifier's replies to them (OpenID4VP 1.0 §8, Appendix A.4).

use std::collections::BTreeMap;

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::json::{self, Limits};
use selfsame_oauth::{ErrorBody, Form};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::as_object::lists;
use crate::client_metadata::ClientMetadata;
use crate::encryption::{EncryptTo, EncryptionKey};
use crate::error::Error;

/// Maximum size of a `vp_token`, in bytes.
const MAX_VP_TOKEN: usize = 1024 * 1024;
/// Maximum size of an encrypted response, in bytes: that of its content in base64url, and its header.
const MAX_ENCRYPTED: usize = MAX_VP_TOKEN / 3 * 4 + 16 * 1024;
/// Maximum length of a verifier's reason as shown to the person, in characters.
const MAX_TOLD: usize = 200;
/// Maximum number of presentations in one response.
const MAX_PRESENTATIONS: usize = 256;

/// Presentations, keyed by the identifier of the credential query they answer. Where the format is JSON, each is the text
/// of the object.
pub type VpToken = BTreeMap<String, Vec<String>>;

/// A wallet's response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthorizationResponse {
    /// The state of the request, repeated.
    pub state: Option<String>,
    /// The answer itself.
    pub answer: VpResponse,
}

/// Presentations, or an error.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum VpResponse {
    /// The presentations.
    Presented(VpToken),
    /// The wallet's error.
    Refused {
        /// The specification's error code.
        error: String,
        /// A description for people.
        description: Option<String>,
    },
}

impl AuthorizationResponse {
    /// Parses the form body of a response that is not encrypted; unknown parameters are ignored, repeated ones refused.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        Self::of_form(form_of(body)?)
    }

    fn of_form(mut form: Form) -> Result<Self, Error> {
        Self::of_parameters(ResponseParameters {
            vp_token: form.take("vp_token").map(Value::String),
            error: form.take("error"),
            error_description: form.take("error_description"),
            state: form.take("state"),
        })
    }

    // §8.3: the payload of the JWE has the parameters as its members, `vp_token` as an object.
    fn of_payload(payload: &[u8]) -> Result<Self, Error> {
        let limits = Limits {
            max_bytes: MAX_VP_TOKEN,
            ..Limits::default()
        };
        let value = json::parse(payload, &limits).map_err(|_| no_object())?;
        Self::of_object(value)
    }

    /// The response whose parameters are members of an object.
    fn of_object(value: Value) -> Result<Self, Error> {
        let parameters: ResponseParameters = json::value_as(value).map_err(|_| no_object())?;
        if matches!(parameters.vp_token, Some(Value::String(_))) {
            let reason = "vp_token is a text, not an object";
            return Err(Error::invalid_request(reason));
        }
        Self::of_parameters(parameters)
    }

    fn of_parameters(parameters: ResponseParameters) -> Result<Self, Error> {
        let refuse = |reason: &str| Error::invalid_request(reason);
        let answer = match (parameters.vp_token, parameters.error) {
            (Some(_), Some(_)) => return Err(refuse("vp_token and error are both present")),
            (Some(value), None) => VpResponse::Presented(vp_token(value)?),
            (None, Some(error)) if error.len() <= 64 => VpResponse::Refused {
                error,
                description: parameters.error_description,
            },
            (None, Some(_)) => return Err(refuse("error is too long")),
            (None, None) => return Err(refuse("vp_token is missing")),
        };
        let state = parameters.state;
        Ok(Self { state, answer })
    }

    /// The form with its single parameter: the response's parameters as a JSON object, encrypted (§8.3.1).
    ///
    /// # Errors
    /// An error of the cryptographic library.
    pub fn encrypted(&self, to: &EncryptTo, ctx: &Ctx) -> Result<Vec<(String, String)>, Error> {
        let content = self.to_object().to_string();
        let token = to.seal(content.as_bytes(), ctx)?;
        Ok(vec![(RESPONSE.to_owned(), token)])
    }

    /// The `data` that goes back to a page by the browser, encrypted if the request asks for that. An error is its code
    /// and nothing else (Appendix A.4).
    ///
    /// # Errors
    /// An error of the cryptographic library.
    pub fn to_data(&self, to: Option<&EncryptTo>, ctx: &Ctx) -> Result<Value, Error> {
        let presented = match (&self.answer, to) {
            (VpResponse::Refused { error, .. }, _) => return Ok(json!({ "error": error })),
            (VpResponse::Presented(_), None) => return Ok(self.to_object()),
            (VpResponse::Presented(_), Some(to)) => to,
        };
        let content = self.to_object().to_string();
        let sealed = presented.seal(content.as_bytes(), ctx)?;
        Ok(json!({ RESPONSE: sealed }))
    }

    /// The response as an object of its parameters (§8.3, Appendix A.4).
    pub fn to_object(&self) -> Value {
        let mut members: Map<String, Value> = self
            .parameters()
            .into_iter()
            .map(|(name, text)| (name, Value::from(text)))
            .collect();
        // In a form, `vp_token` is JSON text; here it is the JSON object itself.
        if let VpResponse::Presented(vp_token) = &self.answer {
            members.insert("vp_token".to_owned(), lists::to_value(vp_token));
        }
        Value::Object(members)
    }

    /// The response as form parameters.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut parameters = match &self.answer {
            VpResponse::Presented(vp_token) => {
                let text = lists::to_value(vp_token).to_string();
                vec![("vp_token".to_owned(), text)]
            }
            VpResponse::Refused { error, description } => {
                let mut refusal = vec![("error".to_owned(), error.clone())];
                let description = description.iter().cloned();
                refusal.extend(description.map(|text| ("error_description".to_owned(), text)));
                refusal
            }
        };
        parameters.extend(
            self.state
                .iter()
                .map(|state| ("state".to_owned(), state.clone())),
        );
        parameters
    }
}

/// The parameter of a response that is encrypted (§8.3.1).
const RESPONSE: &str = "response";

/// The parameters of a response, of a form or of an encrypted object.
#[derive(Deserialize)]
struct ResponseParameters {
    vp_token: Option<Value>,
    error: Option<String>,
    error_description: Option<String>,
    state: Option<String>,
}

/// What a wallet posted or returned by a browser: a response, or an encrypted one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PostedResponse {
    /// The response itself.
    Plain(AuthorizationResponse),
    /// A response in a compact JWE.
    Encrypted(String),
}

impl PostedResponse {
    /// Parses a form body; unknown parameters are ignored, repeated ones refused.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let mut form = form_of(body)?;
        let Some(token) = form.take(RESPONSE) else {
            return AuthorizationResponse::of_form(form).map(Self::Plain);
        };
        // §8.3.1: the only parameter; what stands beside it is not encrypted.
        if ["vp_token", "error", "state"]
            .iter()
            .any(|name| form.has(name))
        {
            let reason = "response stands beside parameters that belong into it";
            return Err(Error::invalid_request(reason));
        }
        Ok(Self::Encrypted(token))
    }

    /// Reads the object that a browser returned (Appendix A.4); unknown members are ignored.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn of_data(data: &Value) -> Result<Self, Error> {
        let Some(token) = data.get(RESPONSE) else {
            return AuthorizationResponse::of_object(data.clone()).map(Self::Plain);
        };
        if ["vp_token", "error"]
            .iter()
            .any(|name| data.get(name).is_some())
        {
            let reason = "response stands beside members that belong into it";
            return Err(Error::invalid_request(reason));
        }
        match token.as_str() {
            Some(token) => Ok(Self::Encrypted(token.to_owned())),
            None => Err(Error::invalid_request("response is not a text")),
        }
    }

    /// The response, if it came as the request asks: encrypted to this key, or in the clear without one. An error may
    /// come in the clear (§8.3).
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn opened(&self, key: Option<&EncryptionKey>) -> Result<AuthorizationResponse, Error> {
        let refuse = |reason: &str| Error::invalid_request(reason);
        match (self, key) {
            (Self::Plain(response), None) => Ok(response.clone()),
            (Self::Plain(response), Some(_)) => match response.answer {
                VpResponse::Refused { .. } => Ok(response.clone()),
                VpResponse::Presented(_) => Err(refuse(
                    "the request asks for an encrypted response (direct_post.jwt, dc_api.jwt), and this one is not",
                )),
            },
            (Self::Encrypted(_), None) => Err(refuse(
                "the request asks for a response that is not encrypted (direct_post, dc_api)",
            )),
            (Self::Encrypted(token), Some(key)) => {
                let opened = key.open(token, MAX_ENCRYPTED);
                let payload = opened.map_err(|error| refuse(&error.to_string()))?;
                AuthorizationResponse::of_payload(payload.expose())
            }
        }
    }
}

/// What the responses to a verifier with this metadata are encrypted with.
///
/// # Errors
/// `invalid_request` if no key or no content encryption is supported.
pub fn encryption_to(metadata: &ClientMetadata) -> Result<EncryptTo, Error> {
    // §5.1: the default value.
    let default = ["A128GCM".to_owned()];
    let values = metadata.encrypted_response_enc_values_supported.as_deref();
    let chosen = EncryptTo::choose(metadata.jwks.as_deref(), values.unwrap_or(&default));
    chosen.map_err(|why| Error::invalid_request(format!("client_metadata: {why}")))
}

fn no_object() -> Error {
    Error::invalid_request("the response is not a JSON object of its parameters")
}

fn form_of(body: &[u8]) -> Result<Form, Error> {
    Form::parse(body)
        .map_err(|error| Error::invalid_request(format!("the response can't be read: {error}")))
}

/// A `vp_token` as it is sent.
#[derive(Deserialize)]
struct SentToken(#[serde(deserialize_with = "lists::deserialize")] VpToken);

// §8.1: an object whose values are non-empty arrays of strings or objects.
fn vp_token(value: Value) -> Result<VpToken, Error> {
    let limits = Limits {
        max_bytes: MAX_VP_TOKEN,
        ..Limits::default()
    };
    let read: Option<SentToken> = match value {
        Value::String(text) => json::parse_as(text.as_bytes(), &limits).ok(),
        object => json::value_as(object).ok(),
    };
    let SentToken(vp_token) = read.ok_or_else(|| {
        Error::invalid_request("vp_token is not an object of arrays of presentations")
    })?;
    if vp_token.values().any(Vec::is_empty) {
        return Err(Error::invalid_request("vp_token has an empty entry"));
    }
    let presentations = vp_token
        .values()
        .fold(0_usize, |sum, list| sum.saturating_add(list.len()));
    if presentations == 0 || presentations > MAX_PRESENTATIONS {
        return Err(Error::invalid_request(
            "vp_token has no presentation, or too many",
        ));
    }
    Ok(vp_token)
}

/// The verifier's reply to a response that it accepted.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    /// The URL to open next in the person's browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,
}

/// A message that the verifier did not accept the answer. It quotes the verifier's reason, limited to the characters of
/// RFC 6749 §5.2 and to `MAX_TOLD` characters.
pub fn not_taken(body: &[u8]) -> String {
    let said: Option<ErrorBody> = json::parse_as(body, &crate::limits()).ok();
    let told = said.and_then(|body| {
        let text = body.error_description.unwrap_or(body.error);
        ErrorBody::new("", text.trim()).error_description
    });
    let what = "the verifier did not accept the answer";
    match told {
        None => what.to_owned(),
        Some(told) => {
            let told: String = told.chars().take(MAX_TOLD).collect();
            format!("{what}; its reason: {told}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<AuthorizationResponse, Error> {
        AuthorizationResponse::parse(body.as_bytes())
    }

    fn of(vp_token: &str) -> Result<AuthorizationResponse, Error> {
        read(&selfsame_oauth::form::encode(&[
            ("vp_token", vp_token),
            ("state", "s"),
        ]))
    }

    #[test]
    fn a_response_reads_back_as_it_was_written() {
        let response = of(r#"{"a":["x","y"],"b":["z"]}"#).unwrap();
        let text = selfsame_oauth::form::encode(&response.parameters());
        assert_eq!(read(&text).unwrap(), response);
        let refusal = read("error=access_denied&error_description=no&state=s&x=y").unwrap();
        let text = selfsame_oauth::form::encode(&refusal.parameters());
        assert_eq!(read(&text).unwrap(), refusal);
    }

    #[test]
    fn what_a_browser_returned_is_an_object_of_parameters_or_an_encrypted_response() {
        let response = of(r#"{"a":["x"]}"#).unwrap();
        let plain = PostedResponse::of_data(&response.to_object()).unwrap();
        assert_eq!(plain, PostedResponse::Plain(response));
        let encrypted = PostedResponse::of_data(&json!({"response": "a.b.c.d.e"})).unwrap();
        assert_eq!(encrypted, PostedResponse::Encrypted("a.b.c.d.e".to_owned()));
        let error = PostedResponse::of_data(&json!({"error": "invalid_request"})).unwrap();
        let PostedResponse::Plain(AuthorizationResponse { answer, .. }) = error else {
            panic!("an error is not encrypted");
        };
        assert!(matches!(answer, VpResponse::Refused { error, .. } if error == "invalid_request"));
        for wrong in [
            json!({}),
            json!("a"),
            json!({"response": 1}),
            json!({"response": "a.b.c.d.e", "vp_token": {"a": ["x"]}}),
            json!({"vp_token": r#"{"a":["x"]}"#}),
            json!({"vp_token": {"a": ["x"]}, "error": "invalid_request"}),
        ] {
            let refused = PostedResponse::of_data(&wrong).unwrap_err();
            assert_eq!(refused.code(), Some("invalid_request"), "{wrong}");
        }
    }

    #[test]
    fn a_vp_token_that_is_not_an_object_of_arrays_is_refused() {
        for bad in [
            r#""x""#,
            r#"["x"]"#,
            "{}",
            r#"{"a":"x"}"#,
            r#"{"a":[]}"#,
            r#"{"a":[1]}"#,
        ] {
            assert_eq!(
                of(bad).unwrap_err().code(),
                Some("invalid_request"),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_vp_token_that_names_a_query_twice_is_refused() {
        assert_eq!(
            of(r#"{"a":["x"],"a":["y"]}"#).unwrap_err().code(),
            Some("invalid_request")
        );
    }

    #[test]
    fn a_response_with_a_repeated_parameter_is_refused() {
        assert_eq!(
            read("state=s&error=access_denied&state=t")
                .unwrap_err()
                .code(),
            Some("invalid_request")
        );
    }

    #[test]
    fn a_response_with_neither_or_both_of_token_and_error_is_refused() {
        assert!(read("state=s").is_err());
        assert!(read("vp_token=%7B%22a%22%3A%5B%22x%22%5D%7D&error=access_denied").is_err());
    }
}
