//! did:web: documents published on a web server.

use url::{Host, Url};

use crate::did::Did;
use crate::document::{Document, Representation};
use crate::resolution::{Resolution, ResolutionError};

use super::{Binary, Method, Origin, ResolutionPlan};

/// did:web in the table of methods.
pub const METHOD: Method = Method {
    name: "web",
    origin: Origin::Host,
    plan: |did, options| {
        options.unversioned()?;
        let url = url(did).map_err(|_| ResolutionError::InvalidDid)?;
        Ok(ResolutionPlan::Fetch { url })
    },
    read: Some(read),
    anchored: None,
    of_key: None,
    binary: Some(Binary {
        code: 226,
        write: |did| Some(did.method_id().as_bytes().to_vec()),
        read: |bytes| String::from_utf8(bytes.to_vec()).ok(),
    }),
};

/// Why a did:web and a URL do not correspond. Their author must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WebError {
    /// The DID is of another method.
    #[error("the DID is not a did:web")]
    Method,
    /// The host is an IP address or not a domain name, or its port is malformed.
    #[error("the host is not a domain name with an optional port")]
    Host,
    /// A path segment is empty, is a dot segment or contains an encoded slash.
    #[error("the path is malformed")]
    Path,
}

/// The URL of a did:web's document (did:web §2.5.2).
pub fn url(did: &Did) -> Result<Url, WebError> {
    if did.method() != METHOD.name {
        return Err(WebError::Method);
    }
    let mut segments = did.method_id().split(':');
    let host = host(segments.next().unwrap_or_default())?;
    let segments: Vec<&str> = segments.collect();
    if !segments.iter().all(|segment| is_plain(segment)) {
        return Err(WebError::Path);
    }
    let path = if segments.is_empty() {
        ".well-known".to_owned()
    } else {
        segments.join("/")
    };
    let text = format!("https://{host}/{path}/did.json");
    let url = Url::parse(&text).map_err(|_| WebError::Host)?;
    // Refuses names that the URL parser would rewrite (a number that is an IP address, an upper-case host).
    let is_unchanged = url.as_str() == text || url.as_str() == text.replacen(":443/", "/", 1);
    match url.host() {
        Some(Host::Domain(_)) if is_unchanged => Ok(url),
        _ => Err(WebError::Host),
    }
}

/// The did:web whose document is served under `base`: `https://example.com/issuer` gives `did:web:example.com:issuer`,
/// with the document at `/issuer/did.json`.
pub fn did_for(base: &Url) -> Result<Did, WebError> {
    let Some(Host::Domain(host)) = base.host() else {
        return Err(WebError::Host);
    };
    let port = base
        .port()
        .map(|port| format!("%3A{port}"))
        .unwrap_or_default();
    let path = base.path().trim_matches('/');
    let segments: Vec<&str> = if path.is_empty() {
        Vec::new()
    } else {
        path.split('/').collect()
    };
    if !segments.iter().all(|segment| is_plain(segment)) {
        return Err(WebError::Path);
    }
    let path: String = segments
        .iter()
        .map(|segment| format!(":{segment}"))
        .collect();
    Did::parse(&format!("{}:{host}{port}{path}", METHOD.scheme())).map_err(|_| WebError::Path)
}

/// Reads the body fetched from [`url()`]: the document must describe `did`.
pub fn read(did: &Did, body: &[u8]) -> Resolution {
    match Document::parse(body, did) {
        Ok(document) => {
            let plain = document.context.is_empty();
            let representation = if plain {
                Representation::Json
            } else {
                Representation::default()
            };
            Resolution::found(document, representation)
        }
        Err(_) => Resolution::failed(ResolutionError::InvalidDidDocument),
    }
}

/// A domain name in lower case with an optional port. The colon before the port is percent-decoded.
fn host(text: &str) -> Result<String, WebError> {
    let decoded = text.replacen("%3A", ":", 1).replacen("%3a", ":", 1);
    let (name, port) = decoded
        .split_once(':')
        .map_or((decoded.as_str(), None), |(name, port)| (name, Some(port)));
    // RFC 1123 §2.1: labels of letters, digits and inner hyphens.
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // If the last label were digits, the name would be an IPv4 address (WHATWG URL §3.1).
    let is_name = name.len() <= 253 && name.split('.').all(is_label);
    let is_number = name
        .rsplit('.')
        .next()
        .is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    let is_port = |port: &str| {
        port.parse::<u16>()
            .is_ok_and(|number| number > 0 && number.to_string() == port)
    };
    if is_name && !is_number && port.is_none_or(is_port) {
        Ok(decoded.clone())
    } else {
        Err(WebError::Host)
    }
}

/// Whether a segment names one directory: not empty, not `.` or `..`, no percent-encoded slash or backslash.
fn is_plain(segment: &str) -> bool {
    let lower = segment.to_ascii_lowercase().replace("%2e", ".");
    !lower.is_empty()
        && lower != "."
        && lower != ".."
        && !lower.contains("%2f")
        && !lower.contains("%5c")
}

#[cfg(test)]
mod tests;
