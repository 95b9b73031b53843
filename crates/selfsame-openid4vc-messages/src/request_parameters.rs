//! Parameters of authorization requests before they are checked (OpenID4VP 1.0 §5), and how a request object is fetched.

use selfsame_crypto::json;
use selfsame_oauth::Form;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::error::{Error, PresentationCode};

/// Response mode: the answer is posted as a form.
pub const DIRECT_POST: &str = "direct_post";
/// Response mode: the answer is encrypted to the verifier and posted as a form (OpenID4VP 1.0 §8.3.1).
pub const DIRECT_POST_JWT: &str = "direct_post.jwt";
/// Response mode: the answer goes back by the browser (OpenID4VP 1.0 Appendix A.2).
pub const DC_API: &str = "dc_api";
/// Response mode: the answer is encrypted and goes back by the browser.
pub const DC_API_JWT: &str = "dc_api.jwt";
/// What stands before the origin in the audience of an answer that goes back by the browser (Appendix A.4).
pub const ORIGIN: &str = "origin:";
/// The URI scheme that opens a wallet with a request.
pub const SCHEME: &str = "openid4vp";
/// `typ` of a request object (RFC 9101 §10.8).
pub const TYP: &str = "oauth-authz-req+jwt";
/// The media type of a request object.
pub const MEDIA_TYPE: &str = "application/oauth-authz-req+jwt";
/// `aud` of a request object whose recipient is not known in advance (OpenID4VP 1.0 §5.8).
pub const STATIC_AUDIENCE: &str = "https://self-issued.me/v2";
/// Maximum length of a nonce or state, in bytes.
pub const MAX_VALUE: usize = 1024;
/// Maximum length, in bytes, of a wallet nonce to repeat.
const MAX_WALLET_NONCE: usize = 1024;

/// A page that asks by the Digital Credentials API of a browser, which brings the answer back to it (Appendix A).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct BrowserPage {
    /// Its origin, as the browser states it.
    pub origin: String,
    /// The protocol of the exchange.
    pub protocol: String,
}

/// A refused request, with the response URI if the verifier can be informed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefusedRequest {
    /// The reason.
    pub error: Error,
    /// The response URI, if the request names one.
    pub response_uri: Option<Url>,
    /// The state to repeat in the response.
    pub state: Option<String>,
}

/// The nonce in the form that a wallet posts to fetch the request object; unknown parameters are ignored. The request is
/// the same for every wallet, so that the metadata of the wallet has to be well-formed, and nothing more.
///
/// # Errors
/// `invalid_request`.
pub fn wallet_nonce(body: &[u8]) -> Result<Option<String>, Error> {
    let mut form = Form::parse(body)
        .map_err(|error| Error::invalid_request(format!("the form can't be read: {error}")))?;
    if let Some(metadata) = form.take("wallet_metadata") {
        let read = json::parse(metadata.as_bytes(), &crate::limits());
        if !read.is_ok_and(|read| read.is_object()) {
            return Err(Error::invalid_request(
                "wallet_metadata is not a JSON object",
            ));
        }
    }
    match form.take("wallet_nonce") {
        Some(nonce) if nonce.len() > MAX_WALLET_NONCE => {
            Err(Error::invalid_request("wallet_nonce is too long"))
        }
        nonce => Ok(nonce),
    }
}

/// Whether a text can be the subject of an attestation: one line of bounded length.
pub fn is_short(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_VALUE && !text.chars().any(char::is_control)
}

/// Whether a text is a DNS name.
pub fn is_dns_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// The HTTP method for fetching the request object.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestUriMethod {
    /// GET.
    #[default]
    Get,
    /// POST, which lets the wallet send its own nonce.
    Post,
}

impl RequestUriMethod {
    /// Parses the parameter; its value is case-sensitive.
    pub fn parse(text: Option<&str>) -> Result<Self, Error> {
        match text {
            None | Some("get") => Ok(Self::Get),
            Some("post") => Ok(Self::Post),
            Some(_) => Err(Error::presentation(
                PresentationCode::InvalidRequestUriMethod,
                "request_uri_method is neither get nor post",
            )),
        }
    }
}

/// The unchecked parameters of a request, from a URL or a request object.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Parameters {
    /// The client identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Must be `vp_token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_type: Option<String>,
    /// `direct_post` or `direct_post.jwt`; `dc_api` or `dc_api.jwt` for a request by a browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_mode: Option<String>,
    /// The URL to post the answer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_uri: Option<String>,
    /// Not used with `direct_post`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,
    /// The nonce that binds presentations to the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// The value that the answer must repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Not supported; a request needs a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The DCQL query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dcql_query: Option<Value>,
    /// The verifier's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_metadata: Option<Value>,
    /// Why the verifier asks; of our profile (`docs/request-profile.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Value>,
    /// What the person is to agree to: an array of JSON objects, each in base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_data: Option<Value>,
    /// The wallet's nonce, repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet_nonce: Option<String>,
    /// The origins of the verifier's pages, in a signed request by a browser (Appendix A.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_origins: Option<Value>,
}

impl Parameters {
    /// Takes the parameters from a URL's query; objects are given as JSON text (OpenID4VP 1.0 §5.1).
    pub fn of_form(form: &mut Form) -> Result<Self, Error> {
        let mut json = |name: &str| -> Result<Option<Value>, Error> {
            let Some(text) = form.take(name) else {
                return Ok(None);
            };
            json::parse(text.as_bytes(), &crate::limits())
                .map(Some)
                .map_err(|_| Error::invalid_request("a JSON parameter is malformed"))
        };
        let dcql_query = json("dcql_query")?;
        let client_metadata = json("client_metadata")?;
        let transaction_data = json("transaction_data")?;
        Ok(Self {
            client_id: form.take("client_id"),
            response_type: form.take("response_type"),
            response_mode: form.take("response_mode"),
            response_uri: form.take("response_uri"),
            redirect_uri: form.take("redirect_uri"),
            nonce: form.take("nonce"),
            state: form.take("state"),
            scope: form.take("scope"),
            dcql_query,
            client_metadata,
            purpose: form.take("purpose").map(Value::String),
            transaction_data,
            wallet_nonce: None,
            expected_origins: None,
        })
    }

    /// The parameters for a URL's query; objects are written as JSON text.
    pub fn to_pairs(&self) -> Vec<(String, String)> {
        let Ok(Value::Object(members)) = serde_json::to_value(self) else {
            return Vec::new();
        };
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        members
            .into_iter()
            .map(|(name, value)| (name, text(value)))
            .collect()
    }
}
