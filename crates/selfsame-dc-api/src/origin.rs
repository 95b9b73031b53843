//! The origins of pages: as browsers state them, and as signed requests list them (Appendix A.2).

use selfsame_openid4vc::{Error, Transport};
use serde_json::Value;
use url::Url;

/// Maximum length of an origin, in bytes.
const ORIGIN_MAX: usize = 300;
/// Maximum number of origins that a request lists.
const LISTED_MAX: usize = 64;
/// Schemes of which no page asks (Appendix A.2).
const UNSAFE: [&str; 5] = ["ftp:", "javascript:", "data:", "ws:", "wss:"];

/// The origin of a page, as a browser states it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageOrigin {
    text: String,
    url: Url,
}

impl PageOrigin {
    /// The origin of this text: https, or one that is trusted without TLS.
    ///
    /// # Errors
    /// `invalid_request` if it is no origin as browsers write it (HTML §7.1.1), or pages of it may not ask.
    pub fn parse(text: &str, transport: &Transport) -> Result<Self, Error> {
        let refuse = Error::invalid_request;
        let url = Some(text)
            .filter(|text| text.len() <= ORIGIN_MAX)
            .and_then(|text| Url::parse(text).ok())
            .filter(|url| url.origin().ascii_serialization() == text)
            .ok_or_else(|| refuse("the origin is not one of a page, as browsers write it"))?;
        if !transport.allows(&url) {
            return Err(refuse(
                "the origin is neither an https address nor trusted without TLS",
            ));
        }
        let text = text.to_owned();
        Ok(Self { text, url })
    }

    /// As the browser writes it, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The address of its first page.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Whether a signed request that lists these origins is for pages of this one. Texts are compared as they are.
    ///
    /// # Errors
    /// `invalid_request` if it is not, or if the list breaks a rule.
    pub fn is_expected(&self, listed: Option<&Value>, transport: &Transport) -> Result<(), Error> {
        let refuse = Error::invalid_request;
        let listed = listed.ok_or_else(|| refuse("a signed request lacks expected_origins"))?;
        let texts = listed
            .as_array()
            .filter(|list| !list.is_empty() && list.len() <= LISTED_MAX)
            .and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>())
            .ok_or_else(|| refuse("expected_origins is not a list of origins, or too long"))?;
        let is_unsafe = |text: &&str| UNSAFE.iter().any(|scheme| text.starts_with(scheme));
        if texts.iter().any(is_unsafe) {
            return Err(refuse("expected_origins has an origin of an unsafe scheme"));
        }
        let is_plain = |text: &&str| {
            text.starts_with("http:")
                && Url::parse(text).map_or(true, |url| !transport.allows(&url))
        };
        if texts.iter().any(is_plain) {
            return Err(refuse(
                "expected_origins has an origin without TLS that is not trusted so",
            ));
        }
        match texts.contains(&self.as_str()) {
            true => Ok(()),
            false => Err(refuse(
                "the page that asks is of another origin than the signed request expects",
            )),
        }
    }
}

/// Whether an answer came back to a page of a verifier with these origins.
///
/// # Errors
/// `invalid_request` if it came back to another one.
pub fn is_own(origin: &str, own: &[String]) -> Result<(), Error> {
    match own.iter().any(|one| one == origin) {
        true => Ok(()),
        false => Err(Error::invalid_request(
            "the answer came back to a page of another origin than this verifier's",
        )),
    }
}
