//! Authorization responses sent by `direct_post`, and the verifier's replies to them (OpenID4VP 1.0 §8).

use std::collections::BTreeMap;

use selfsame_crypto::json::{self, Limits};
use selfsame_oauth::Form;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Maximum size of a `vp_token`, in bytes.
const MAX_VP_TOKEN: usize = 1024 * 1024;
/// Maximum number of presentations in one response.
const MAX_PRESENTATIONS: usize = 256;

/// Presentations, keyed by the identifier of the credential query they answer.
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
    /// Parses a form body; unknown parameters are ignored, repeated ones refused.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let refuse = |reason: &str| Error::invalid_request(reason);
        let mut form = Form::parse(body)
            .map_err(|error| refuse(&format!("the response can't be read: {error}")))?;
        let answer = match (form.take("vp_token"), form.take("error")) {
            (Some(_), Some(_)) => return Err(refuse("vp_token and error are both present")),
            (Some(text), None) => VpResponse::Presented(vp_token(&text)?),
            (None, Some(error)) if error.len() <= 64 => VpResponse::Refused {
                error,
                description: form.take("error_description"),
            },
            (None, Some(_)) => return Err(refuse("error is too long")),
            (None, None) => return Err(refuse("vp_token is missing")),
        };
        Ok(Self {
            state: form.take("state"),
            answer,
        })
    }

    /// The response as form parameters.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut parameters = match &self.answer {
            VpResponse::Presented(vp_token) => {
                let text = serde_json::to_string(vp_token).unwrap_or_default();
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

// §8.1: an object whose values are non-empty arrays; in every supported format a presentation is a string.
fn vp_token(text: &str) -> Result<VpToken, Error> {
    let limits = Limits {
        max_bytes: MAX_VP_TOKEN,
        ..Limits::default()
    };
    let vp_token: VpToken = json::parse_as(text.as_bytes(), &limits).map_err(|_| {
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
