//! The security headers for browsers, on every response.

use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue};

use crate::origin::Origin;

/// Only our own files, and images that are in the page itself: no inline script or style, nothing from elsewhere, no
/// framing.
const CONTENT_SECURITY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "camera=(self), clipboard-write=(self), geolocation=(), microphone=(), payment=(), usb=()",
);

/// Adds the headers; keeps a handler's own caching, referrer, opener and content security headers.
pub fn secure(origin: &Origin, response: &mut Response) {
    let headers = response.headers_mut();
    // An image that is opened on its own has a narrower policy.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(CONTENT_SECURITY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("permissions-policy"), PERMISSIONS);
    headers
        .entry(HeaderName::from_static("cross-origin-opener-policy"))
        .or_insert(HeaderValue::from_static("same-origin"));
    // `no-referrer` would make browsers send `Origin: null` with our own forms.
    headers
        .entry(REFERRER_POLICY)
        .or_insert(HeaderValue::from_static("same-origin"));
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if origin.secure() {
        headers.insert(
            STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
}
