//! Identifiers, reasons and JSON as text for people.

use std::fmt;

use selfsame_wallet_view::cards::ClaimLine;
use serde::Serialize;

/// An identifier from the API as text for people: `not_yet_valid` becomes "not yet valid".
pub fn words(text: &(impl fmt::Display + ?Sized)) -> String {
    text.to_string().replace('_', " ")
}

/// Whether some of these lines belong to the protocol.
pub fn has_technical(lines: &[ClaimLine]) -> bool {
    lines.iter().any(|line| line.technical)
}

/// A text that others chose, within a picture or an attribute of one.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A reason as a complete sentence.
pub fn sentence(reason: &str) -> String {
    let reason = reason.replace('`', "");
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    let end = if reason.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    match first {
        Some(first) => format!("{first}{}{end}", letters.as_str()),
        None => String::new(),
    }
}

/// A client identifier without its prefix (OpenID4VP 1.0 §5.9.3).
pub fn bare_name(client_id: &str) -> &str {
    let prefixes = [
        "decentralized_identifier:",
        "x509_san_dns:",
        "x509_hash:",
        "verifier_attestation:",
        "redirect_uri:",
        "origin:",
    ];
    let bare = |prefix: &&str| client_id.strip_prefix(*prefix);
    prefixes.iter().find_map(bare).unwrap_or(client_id)
}

/// An identifier shortened to fit a line: the host of an address, the ends of a DID.
pub fn short_name(identifier: &str) -> String {
    if let Ok(url) = url::Url::parse(identifier)
        && let Some(host) = url.host_str()
    {
        return match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
    }
    let letters: Vec<char> = identifier.chars().collect();
    match (
        letters.get(..22),
        letters.get(letters.len().saturating_sub(8)..),
    ) {
        (Some(start), Some(end)) if letters.len() > 34 => {
            format!(
                "{}…{}",
                start.iter().collect::<String>(),
                end.iter().collect::<String>()
            )
        }
        _ => identifier.to_owned(),
    }
}

/// Indented JSON.
pub fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_become_sentences() {
        assert_eq!(sentence("this offer is taken"), "This offer is taken.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence("`up` prints it"), "Up prints it.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn a_name_is_shown_without_its_prefix() {
        assert_eq!(bare_name("x509_san_dns:a.example"), "a.example");
        assert_eq!(
            bare_name("decentralized_identifier:did:web:a.example"),
            "did:web:a.example"
        );
        assert_eq!(
            bare_name("http://a.example/issuer"),
            "http://a.example/issuer"
        );
    }

    #[test]
    fn long_identifiers_are_shown_by_their_host_or_their_ends() {
        assert_eq!(
            short_name("https://clinic.example/issuer"),
            "clinic.example"
        );
        assert_eq!(short_name("http://127.0.0.1:7380/issuer"), "127.0.0.1:7380");
        let long = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
        assert_eq!(short_name(long), "did:key:z6MkhaXgBZDvot…EGta2doK");
        assert_eq!(short_name("did:web:a.example"), "did:web:a.example");
    }
}
