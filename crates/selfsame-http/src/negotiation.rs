//! What a request accepts, and what its sender has already.

use http::HeaderMap;
use http::header::{ACCEPT, IF_NONE_MATCH};

/// The first form that is offered, in the caller's order of preference. `offered` gives the form for one entry of
/// Accept.
pub fn preferred<T>(accept: &str, offered: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut wishes: Vec<(u16, &str)> = accept
        .split(',')
        .map(|wish| (quality(wish), wish.trim()))
        .collect();
    wishes.sort_by_key(|(quality, _)| std::cmp::Reverse(*quality));
    wishes
        .into_iter()
        .filter(|(quality, _)| *quality > 0)
        .find_map(|(_, wish)| offered(wish))
}

/// The weight in thousandths (RFC 9110 §12.4.2).
fn quality(wish: &str) -> u16 {
    let weight = wish
        .split(';')
        .skip(1)
        .find_map(|parameter| parameter.trim().strip_prefix("q="));
    let Some(weight) = weight.and_then(|weight| weight.parse::<f32>().ok()) else {
        return 1000;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 1000"
    )]
    let thousandths = (weight.clamp(0.0, 1.0) * 1000.0) as u16;
    thousandths
}

/// Whether the caller is a program: it accepts JSON, and no HTML.
pub fn takes_json_alone(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let takes = |kind: &str| accepted.is_some_and(|accepted| accepted.contains(kind));
    takes("json") && !takes("html")
}

/// Whether events are asked for (HTML §9.2.2).
pub fn follows(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .is_some_and(|accepted| accepted.as_bytes().starts_with(b"text/event-stream"))
}

/// Whether the caller has the content with this ETag.
pub fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let tags = headers.get(IF_NONE_MATCH);
    tags.and_then(|tags| tags.to_str().ok())
        .is_some_and(|tags| names(tags, etag))
}

/// Whether If-None-Match names the tag (RFC 9110 §13.1.2; compared weakly).
fn names(tags: &str, etag: &str) -> bool {
    tags.split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_known_by_any_of_the_tags_a_client_has() {
        assert!(names("\"a\", W/\"b\"", "\"b\""));
        assert!(names("*", "\"b\""));
        assert!(!names("\"a\"", "\"b\""));
    }
}
