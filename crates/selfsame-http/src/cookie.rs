//! Cookies: their attributes, and how they are read back.

mod names;

use std::fmt::Write as _;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use crate::origin::Origin;

pub use names::Names;

/// A cookie to be set: HttpOnly, for the whole host and this browser session by default.
pub struct Jar<'a> {
    name: &'a str,
    same_site: &'static str,
    path: &'a str,
    max_age: Option<u64>,
}

impl<'a> Jar<'a> {
    /// Never sent along when another site leads here.
    pub fn strict(name: &'a str) -> Self {
        Self {
            name,
            same_site: "Strict",
            path: "/",
            max_age: None,
        }
    }

    /// Sent along when a link leads here, so that a scanned offer or request opens signed in.
    pub fn lax(name: &'a str) -> Self {
        Self {
            name,
            same_site: "Lax",
            path: "/",
            max_age: None,
        }
    }

    /// Limits the cookie to one page and to `seconds`.
    pub fn of_page(self, path: &'a str, seconds: u64) -> Self {
        Self {
            path,
            max_age: Some(seconds),
            ..self
        }
    }

    /// The Set-Cookie header for a value; `None` if a cookie can't hold the value.
    pub fn value(&self, value: &str, origin: &Origin) -> Option<HeaderValue> {
        is_token(value)
            .then(|| self.written(value, origin))
            .and_then(|cookie| HeaderValue::from_str(&cookie).ok())
    }

    /// The Set-Cookie header that removes it.
    pub fn gone(&self, origin: &Origin) -> Option<HeaderValue> {
        let gone = Self {
            max_age: Some(0),
            ..*self
        };
        HeaderValue::from_str(&gone.written("", origin)).ok()
    }

    fn written(&self, value: &str, origin: &Origin) -> String {
        let Self {
            name,
            same_site,
            path,
            ..
        } = self;
        let secure = if origin.secure() { "; Secure" } else { "" };
        let mut cookie =
            format!("{name}={value}; Path={path}; HttpOnly; SameSite={same_site}{secure}");
        if let Some(seconds) = self.max_age {
            let _never_fails = write!(cookie, "; Max-Age={seconds}");
        }
        cookie
    }
}

/// The value of the cookie `name`, if it occurs exactly once and has the form of one of ours.
pub fn read(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut found = None;
    for header in headers.get_all(COOKIE) {
        for pair in header.to_str().ok()?.split(';') {
            let Some((key, value)) = pair.trim().split_once('=') else {
                continue;
            };
            if key == name && found.replace(value).is_some() {
                return None;
            }
        }
    }
    found.filter(|value| is_token(value)).map(str::to_owned)
}

fn is_token(value: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=512).contains(&value.len()) && value.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn origin(text: &str) -> Origin {
        Origin::of(&Url::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn under_tls_cookies_are_secure() {
        let origin = origin("https://selfsame.example/");
        let cookie = Jar::strict("__Host-a").value("abc", &origin).unwrap();
        assert_eq!(
            cookie,
            "__Host-a=abc; Path=/; HttpOnly; SameSite=Strict; Secure"
        );
    }

    #[test]
    fn a_cookie_that_comes_twice_or_holds_strange_bytes_is_not_read() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; b=two; c=<x>"));
        assert_eq!(read(&headers, "b").as_deref(), Some("two"));
        assert_eq!(read(&headers, "c"), None);
        headers.append(COOKIE, HeaderValue::from_static("b=three"));
        assert_eq!(read(&headers, "b"), None);
    }

    #[test]
    fn a_value_that_would_add_attributes_is_not_set() {
        assert!(
            Jar::lax("a")
                .value("x; Domain=example.com", &origin("http://127.0.0.1:1/"))
                .is_none()
        );
    }
}
