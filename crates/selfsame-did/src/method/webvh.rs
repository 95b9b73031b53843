//! did:webvh: identifiers whose log of documents is published on a web server (did:webvh v1.0). The log is read and
//! written by selfsame-webvh.

use selfsame_crypto::encoding::{base58_decode, base58_encode};
use selfsame_crypto::hash::sha256;
use url::{Host, Url};

use crate::did::Did;
use crate::resolution::ResolutionError;

use super::{Method, Origin, ResolutionPlan};

/// did:webvh in the table of methods.
pub const METHOD: Method = Method {
    name: "webvh",
    origin: Origin::Log,
    plan: |did, options| {
        let url = url(did).map_err(|_| ResolutionError::InvalidDid)?;
        let options = options.clone();
        Ok(ResolutionPlan::Log { url, options })
    },
    read: None,
    anchored: None,
    of_key: None,
    binary: None,
};

/// The name of the file with the log.
pub const LOG_FILE: &str = "did.jsonl";
/// The name of the file with the witnesses' proofs.
pub const WITNESS_FILE: &str = "did-witness.json";
/// The text in place of the SCID before the SCID is known.
pub const PLACEHOLDER: &str = "{SCID}";

/// The prefix of a multihash of SHA-256, the only hash of version 1.0.
const SHA2_256: [u8; 2] = [0x12, 0x20];
/// The folder of the log of a DID without a path.
const WELL_KNOWN: &str = ".well-known";
/// The one name without a dot that is a host: programs on this machine, in tests.
const LOCALHOST: &str = "localhost";

/// Why a text is not a did:webvh, or a URL is not the place of one. Its author must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WebvhError {
    /// The DID is of another method.
    #[error("the DID is not a did:webvh")]
    Method,
    /// The SCID is not the base58 of a multihash of SHA-256.
    #[error("the SCID is not the base58 of a multihash of SHA-256")]
    Scid,
    /// The host is an IP address or not a domain name, or its port is malformed.
    #[error("the host is not a domain name with an optional port")]
    Host,
    /// A path segment is empty, is a dot segment, or contains a character that a segment must not contain.
    #[error("the path is malformed")]
    Path,
}

/// The SCID of a did:webvh (did:webvh v1.0, "Method-Specific Identifier").
///
/// # Errors
/// `Method` for another method, `Scid` for a malformed one.
pub fn scid(did: &Did) -> Result<&str, WebvhError> {
    parts(did).map(|(scid, _)| scid)
}

/// The part of a did:webvh after the SCID: the host and the path, separated by colons.
///
/// # Errors
/// As [`scid`].
pub fn place(did: &Did) -> Result<&str, WebvhError> {
    parts(did).map(|(_, place)| place)
}

/// The base58 of the multihash of SHA-256 of some bytes: the form of SCIDs, entry hashes and hashes of next keys.
pub fn multihash(bytes: &[u8]) -> String {
    base58_encode(&[&SHA2_256[..], &sha256(bytes)].concat())
}

/// Whether a text is the base58 of a multihash of SHA-256.
pub fn is_multihash(text: &str) -> bool {
    // 34 bytes that begin with 0x12 have 46 digits.
    let bytes = (text.len() == 46).then(|| base58_decode(text));
    matches!(bytes, Some(Ok(bytes)) if bytes.len() == 34 && bytes.starts_with(&SHA2_256))
}

/// The URL of the log (did:webvh v1.0, "The DID to HTTPS Transformation").
///
/// # Errors
/// Which part of the DID is malformed.
pub fn url(did: &Did) -> Result<Url, WebvhError> {
    let (host, mut segments) = transformed(did)?;
    if segments.is_empty() {
        segments.push(WELL_KNOWN.to_owned());
    }
    segments.push(LOG_FILE.to_owned());
    joined(&host, &segments)
}

/// The URL of the witnesses' proofs beside the log with this URL.
pub fn witness_url(log: &Url) -> Option<Url> {
    log.join(WITNESS_FILE).ok()
}

/// The URL below which the files of the DID are (did:webvh v1.0, "DID URL Path Resolution"): that of the log without
/// `.well-known`. It ends with a slash.
///
/// # Errors
/// Which part of the DID is malformed.
pub fn files_url(did: &Did) -> Result<Url, WebvhError> {
    let (host, mut segments) = transformed(did)?;
    segments.push(String::new());
    joined(&host, &segments)
}

/// The DID whose log is served below `base`, before its SCID is known: it has [`PLACEHOLDER`] in place of it.
///
/// # Errors
/// `Host` if the URL's host is not a domain name, `Path` if a segment of its path can't be part of a DID.
pub fn draft_for(base: &Url) -> Result<String, WebvhError> {
    let web = super::web::did_for(base).map_err(|error| match error {
        super::web::WebError::Path => WebvhError::Path,
        _ => WebvhError::Host,
    })?;
    Ok(format!(
        "{}:{PLACEHOLDER}:{}",
        METHOD.scheme(),
        web.method_id()
    ))
}

/// The did:web with the same place (did:webvh v1.0, "Publishing a Parallel did:web DID").
///
/// # Errors
/// As [`scid`].
pub fn parallel_web(did: &Did) -> Result<Did, WebvhError> {
    Ok(Did::made(super::web::METHOD.name, place(did)?))
}

fn parts(did: &Did) -> Result<(&str, &str), WebvhError> {
    if did.method() != METHOD.name {
        return Err(WebvhError::Method);
    }
    let (scid, place) = did.method_id().split_once(':').ok_or(WebvhError::Host)?;
    match is_multihash(scid) {
        true => Ok((scid, place)),
        false => Err(WebvhError::Scid),
    }
}

/// The host with its port as URLs have it, and the encoded segments of the path.
fn transformed(did: &Did) -> Result<(String, Vec<String>), WebvhError> {
    let mut components = place(did)?.split(':');
    let host = host(components.next().unwrap_or_default())?;
    let segments: Result<Vec<String>, WebvhError> = components.map(segment).collect();
    Ok((host, segments?))
}

fn joined(host: &str, segments: &[String]) -> Result<Url, WebvhError> {
    let path = segments.join("/");
    let url = Url::parse(&format!("https://{host}/{path}")).map_err(|_| WebvhError::Host)?;
    // The path was encoded above, so the parser of URLs must find nothing to change in it.
    match url.path().strip_prefix('/') == Some(path.as_str()) {
        true => Ok(url),
        false => Err(WebvhError::Path),
    }
}

/// The domain name in ASCII with an optional port.
fn host(component: &str) -> Result<String, WebvhError> {
    let decoded = decoded(component).ok_or(WebvhError::Host)?;
    let (name, port) = match decoded.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (decoded.as_str(), None),
    };
    // Such an octet would end the host in a URL, or be decoded for a second time.
    let ends = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '.' && c != '-';
    if name.contains(ends) {
        return Err(WebvhError::Host);
    }
    // The parser of URLs normalises the name (IDNA) and finds numbers that are IP addresses.
    let url = Url::parse(&format!("https://{name}/")).map_err(|_| WebvhError::Host)?;
    let Some(Host::Domain(name)) = url.host() else {
        return Err(WebvhError::Host);
    };
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let edges = [label.chars().next(), label.chars().next_back()];
        (1..=63).contains(&label.len()) && label.bytes().all(inner) && !edges.contains(&Some('-'))
    };
    let is_name = name.len() <= 253 && name.split('.').all(is_label);
    let is_qualified = name.contains('.') || name == LOCALHOST;
    if !is_name || !is_qualified {
        return Err(WebvhError::Host);
    }
    match port {
        Some(port) => Ok(format!("{name}:{}", port_number(port)?)),
        None => Ok(name.to_owned()),
    }
}

/// One to five digits, from 1 to 65535.
fn port_number(text: &str) -> Result<u16, WebvhError> {
    let is_digits = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_digits.then(|| text.parse().ok()).flatten();
    number.filter(|port| *port > 0).ok_or(WebvhError::Host)
}

/// A segment of the path, decoded once, checked, and encoded as RFC 3986 §2.1 says.
fn segment(component: &str) -> Result<String, WebvhError> {
    let decoded = decoded(component).ok_or(WebvhError::Path)?;
    let is_dots = decoded.is_empty() || decoded == "." || decoded == "..";
    if is_dots || decoded.contains(['/', '\\', '\0']) || decoded.trim() != decoded {
        return Err(WebvhError::Path);
    }
    let mut encoded = String::with_capacity(component.len());
    for byte in decoded.bytes() {
        match byte {
            b'.' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(encoded)
}

/// The text behind percent-encodings, decoded once; `None` if it is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high.checked_mul(16)?.checked_add(low)?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
