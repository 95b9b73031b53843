//! Requests with headers of their own, as browsers and relying parties send them.

use http::{Method, Request, Response, header};
use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_crypto::encoding::base64url_decode;
use serde_json::Value;

use crate::clock::now;
use crate::round::TimedCall;

/// The kind of a body of JSON.
pub const JSON: &str = "application/json";
/// The kind of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// A request that is being written.
pub struct BenchRequest<'a> {
    client: &'a BenchClient,
    path: &'a str,
    request: http::request::Builder,
    body: Vec<u8>,
}

/// An answer, whatever its status.
pub struct BenchAnswer {
    /// The request, for errors.
    what: String,
    /// The answer.
    response: Response<Vec<u8>>,
    /// How long it took.
    pub call: TimedCall,
}

impl<'a> BenchRequest<'a> {
    /// `GET path`.
    pub fn get(client: &'a BenchClient, path: &'a str) -> Self {
        Self::new(client, path, Method::GET)
    }

    /// `POST path` with a body of this kind.
    pub fn post(client: &'a BenchClient, path: &'a str, kind: &str, body: String) -> Self {
        let mut calling = Self::new(client, path, Method::POST).with("content-type", kind);
        calling.body = body.into_bytes();
        calling
    }

    fn new(client: &'a BenchClient, path: &'a str, method: Method) -> Self {
        Self {
            client,
            path,
            request: Request::builder().method(method).uri(path),
            body: Vec::new(),
        }
    }

    /// With this header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Sends it.
    ///
    /// # Errors
    /// If it can't be written, or there is no answer.
    pub async fn send(self) -> Result<BenchAnswer, Error> {
        let what = self.path.split('?').next().unwrap_or_default().to_owned();
        let request = self.request.body(self.body.into());
        let request = request.map_err(|error| Error::Call {
            what: what.clone(),
            why: error.to_string(),
        })?;
        let began = now();
        let response = self.client.call(request).await?;
        let took = began.elapsed();
        Ok(BenchAnswer {
            what,
            response: response.map(|body| body.to_vec()),
            call: TimedCall { began, took },
        })
    }
}

impl BenchAnswer {
    /// The body of an answer with status 2xx.
    ///
    /// # Errors
    /// Any other status.
    pub fn success(self) -> Result<SuccessBody, Error> {
        match self.response.status().is_success() {
            true => Ok(SuccessBody {
                what: self.what,
                body: self.response.into_body(),
                call: self.call,
            }),
            false => Err(self.unexpected()),
        }
    }

    /// Where an answer leads.
    ///
    /// # Errors
    /// If it leads nowhere.
    pub fn location(&self) -> Result<&str, Error> {
        let location = self.response.headers().get(header::LOCATION);
        let location = location.and_then(|value| value.to_str().ok());
        location.ok_or_else(|| self.unexpected())
    }

    /// The cookies that the answer sets, as they are sent back.
    #[must_use]
    pub fn cookies(&self) -> String {
        let set = self.response.headers().get_all(header::SET_COOKIE).iter();
        let set = set.filter_map(|value| value.to_str().ok()?.split(';').next());
        set.collect::<Vec<_>>().join("; ")
    }

    fn unexpected(&self) -> Error {
        let said = String::from_utf8_lossy(self.response.body());
        refused(&self.what, &format!("{} {said}", self.response.status()))
    }
}

/// The body of a successful answer.
pub struct SuccessBody {
    what: String,
    body: Vec<u8>,
    /// How long it took.
    pub call: TimedCall,
}

impl SuccessBody {
    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// If it is something else.
    pub fn json(&self) -> Result<Value, Error> {
        serde_json::from_slice(&self.body).map_err(|error| self.wrong(&error.to_string()))
    }

    /// The error of a body that is not what it should be.
    #[must_use]
    pub fn wrong(&self, why: &str) -> Error {
        refused(&self.what, &format!("{why}: {}", self.text()))
    }
}

/// The error of a call that was answered otherwise than it should be.
pub fn refused(what: &str, why: &str) -> Error {
    Error::Call {
        what: what.to_owned(),
        why: why.to_owned(),
    }
}

/// The text of a member.
///
/// # Errors
/// If it is missing.
pub fn member(value: &Value, name: &str) -> Result<String, Error> {
    let text = value.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| refused(name, &format!("it is not in {value}")))
}

/// The claims of a token in compact form. The signature is not checked.
pub fn token_claims(token: &str) -> Option<Value> {
    let claims = base64url_decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&claims).ok()
}

/// A form of these fields.
pub fn form(fields: &[FormField<'_>]) -> String {
    let fields = fields
        .iter()
        .map(|field| format!("{}={}", field.name, escaped(field.value)));
    fields.collect::<Vec<_>>().join("&")
}

/// A field of a form.
pub struct FormField<'a> {
    /// Its name, of letters.
    pub name: &'static str,
    /// Its value.
    pub value: &'a str,
}

/// A field of a form.
pub fn field<'a>(name: &'static str, value: &'a str) -> FormField<'a> {
    FormField { name, value }
}

/// Percent-encodes everything but the unreserved characters (RFC 3986 §2.3).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(byte.into());
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_each_reserved_character_escaped() {
        let fields = [
            field("redirect_uri", "http://a/b?c=d&e"),
            field("scope", "openid profile"),
        ];
        assert_eq!(
            form(&fields),
            "redirect_uri=http%3A%2F%2Fa%2Fb%3Fc%3Dd%26e&scope=openid%20profile"
        );
    }
}
