//! What stands in place of values: digests, lengths, addresses without what opens something.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use serde_json::{Value, json};
use url::Url;

/// Secrets with fewer characters could be guessed from their digest.
const DIGESTED_MIN: usize = 22;
/// Bytes of a digest that are shown.
const DIGEST_BYTES: usize = 8;
/// The longest text that is kept, in characters.
pub(crate) const TEXT_MAX: usize = 300;
/// A part of a path that is longer may be a secret: an offer's address leads to its code.
const SEGMENT_MAX: usize = 15;

/// What stands in place of a value: what kind it is, and how long. Whether something is true is a claim too.
pub(crate) fn hidden(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(unseen(text)),
        Value::Array(items) => json!(format!("hidden, {} items", items.len())),
        Value::Object(members) => json!(format!("hidden, {} members", members.len())),
        Value::Number(_) | Value::Bool(_) | Value::Null => json!("hidden"),
    }
}

/// What stands in place of a text.
pub(crate) fn unseen(text: &str) -> String {
    format!("hidden, {} characters", text.chars().count())
}

/// What stands in place of a secret: the beginning of its SHA-256, by which whoever has the secret finds it.
pub(crate) fn digest(secret: &str) -> String {
    if secret.chars().count() < DIGESTED_MIN {
        return unseen(secret);
    }
    let whole = sha256(secret.as_bytes());
    let shown = whole.get(..DIGEST_BYTES).unwrap_or_default();
    format!("SHA-256 {}…", hex_encode(shown))
}

/// An address without its parameters, and without what may be a secret of its path.
#[must_use]
pub fn shown_address(text: &str) -> String {
    address(text).as_str().unwrap_or_default().to_owned()
}

/// An address without its parameters, and without what may be a secret of its path.
pub(crate) fn address(text: &str) -> Value {
    if text.starts_with('/') {
        let end = text.find(['?', '#']);
        let (path, rest) = text.split_at(end.unwrap_or(text.len()));
        return json!(place(path, !rest.is_empty()));
    }
    match Url::parse(text) {
        Ok(url) if url.host_str().is_some() => {
            let has_parameters = url.query().is_some() || url.fragment().is_some();
            let origin = match url.origin() {
                origin if origin.is_tuple() => origin.ascii_serialization(),
                // The scheme of an app.
                _ => {
                    let host = url.host_str().unwrap_or_default();
                    format!("{}://{host}", url.scheme())
                }
            };
            json!(format!("{origin}{}", place(url.path(), has_parameters)))
        }
        // A DID may be that of a holder, who is a person.
        Ok(_) => json!(digest(text)),
        // An identifier such as a client's.
        Err(_) => {
            let end = text.find(['?', '#']);
            let (shown, rest) = text.split_at(end.unwrap_or(text.len()));
            let parameters = if rest.is_empty() { "" } else { "?…" };
            json!(cut(&format!("{shown}{parameters}"), TEXT_MAX))
        }
    }
}

/// A path without what may be a secret.
fn place(path: &str, has_parameters: bool) -> String {
    let shown = |segment| match is_shown(segment) {
        true => segment,
        false => "…",
    };
    let segments: Vec<&str> = path.split('/').map(shown).collect();
    let parameters = if has_parameters { "?…" } else { "" };
    let whole = format!("{}{parameters}", segments.join("/"));
    cut(&whole, TEXT_MAX)
}

fn is_shown(segment: &str) -> bool {
    segment.len() <= SEGMENT_MAX || is_word(segment)
}

/// Whether a part of a path is a name that somebody chose, such as `openid-credential-issuer`.
fn is_word(segment: &str) -> bool {
    segment
        .split(['-', '.', '_'])
        .all(|part| part.len() <= SEGMENT_MAX && part.bytes().all(|b| b.is_ascii_lowercase()))
}

pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_its_place_and_loses_what_opens_something() {
        let told = |text: &str| address(text).as_str().unwrap().to_owned();
        let offer = "https://issuer.example/o/acme/issuer/offers/k3h5j2k3h4j2k3h4jk23h4";
        assert_eq!(told(offer), "https://issuer.example/o/acme/issuer/offers/…");
        let back = told("https://shop.example/back?code=secret#state");
        assert_eq!(back, "https://shop.example/back?…");
        let known = "https://issuer.example/.well-known/openid-credential-issuer/issuer";
        assert_eq!(told(known), known);
        assert_eq!(
            told("/oidc/sign-in/k3h5j2k3h4j2k3h4jk23h4?a=b"),
            "/oidc/sign-in/…?…"
        );
        assert_eq!(told("back?code=secret"), "back?…");
        assert_eq!(
            told("app://open.example/a?code=secret"),
            "app://open.example/a?…"
        );
        assert_eq!(told("x509_hash:abc"), "x509_hash:abc");
        assert!(told("did:jwk:eyJrdHkiOiJFQyIsImNydiI6IlAtMjU2In0").starts_with("SHA-256"));
    }
}
