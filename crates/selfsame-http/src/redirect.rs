//! Redirects after a form.

use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, REFRESH};
use http::{HeaderValue, StatusCode};

/// Where to continue after signing in, from the sign-in page's query: `next` is the page, and the rest is its query.
pub fn next(query: Option<&str>) -> String {
    let Some(rest) = query.and_then(|query| query.strip_prefix("next=")) else {
        return String::new();
    };
    let (page, query) = rest.split_once('&').unwrap_or((rest, ""));
    let page = format!("next={page}");
    let mut page: String = url::form_urlencoded::parse(page.as_bytes())
        .map(|(_, page)| page.into_owned())
        .collect();
    if !query.is_empty() {
        page.push(if page.contains('?') { '&' } else { '?' });
        page.push_str(query);
    }
    page
}

/// A redirect to a path of this server; anything else leads to `home`.
pub fn back_to(next: Option<&str>, home: &str) -> Response {
    let path = next.filter(|path| is_local(path)).unwrap_or(home);
    let mut response = StatusCode::SEE_OTHER.into_response();
    let location = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, location);
    response
}

/// Leads on to another host after a form. Browsers follow no redirect after a form to a host that the policy of the
/// form's page does not name, so a page without content leads on (CSP 3 §6.4.2). What was posted is not repeated there.
pub fn onwards(place: &str) -> Response {
    let mut response = StatusCode::OK.into_response();
    let headers = response.headers_mut();
    match HeaderValue::from_str(&format!("0; url={place}")) {
        Ok(refresh) => headers.insert(REFRESH, refresh),
        Err(_) => headers.insert(REFRESH, HeaderValue::from_static("0; url=/")),
    };
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.insert(CONTENT_SECURITY_POLICY, nothing);
    response
}

/// Browsers follow `//host` and `/\host` to another host.
fn is_local(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_gone_back_to() {
        assert!(is_local(
            "/wallet/offer?uri=openid-credential-offer%3A%2F%2F"
        ));
        for elsewhere in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "",
            "/a b",
            "/a\r\nX: y",
        ] {
            assert!(!is_local(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn the_way_on_is_the_page_with_its_own_query() {
        for (query, page) in [
            ("next=%2Fwallet", "/wallet"),
            (
                "next=%2Fwallet%2Foffer&uri=a%3A%2F%2F%3Fb&c=d",
                "/wallet/offer?uri=a%3A%2F%2F%3Fb&c=d",
            ),
            (
                "next=%2Fwallet%2Foffer%3Furi%3Da%253A",
                "/wallet/offer?uri=a%3A",
            ),
            ("next=", ""),
            ("utm_source=x", ""),
        ] {
            assert_eq!(next(Some(query)), page, "{query}");
        }
        assert_eq!(next(None), "");
    }
}
