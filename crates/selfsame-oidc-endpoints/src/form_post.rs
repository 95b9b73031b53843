//! The page that posts a response to the client (OAuth 2.0 Form Post Response Mode): a form that sends itself.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::hash::sha256;
use selfsame_sign_in::view::Landing;

/// The only script of the page. The policy allows it by its hash.
const SCRIPT: &str = "document.forms[0].submit()";

/// The page for a response.
pub(crate) fn page(landing: &Landing) -> Response {
    let fields = landing.parameters.iter().map(|(name, value)| {
        let value = escaped(value);
        format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">")
    });
    let fields: String = fields.collect();
    let action = escaped(&landing.redirect_uri);
    let body = format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Back to the application</title>\
         <form method=\"post\" action=\"{action}\">{fields}<button>Continue</button></form>\
         <script>{SCRIPT}</script></html>"
    );
    let hash = base64_encode(&sha256(SCRIPT.as_bytes()));
    // Where the form goes was checked against the registration; a policy can't name every scheme of native clients.
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{hash}'; base-uri 'none'; frame-ancestors 'none'"
    );
    let about = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store".to_owned()),
        (REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (about, body).into_response()
}

/// A text inside of an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use selfsame_oidc::ResponseMode;

    use super::*;

    #[tokio::test]
    async fn a_clients_state_can_t_leave_its_attribute() {
        let landing = Landing {
            redirect_uri: "https://rp.example/cb?a=1&b=2".to_owned(),
            mode: ResponseMode::FormPost,
            parameters: vec![("state", "\"><script>alert(1)</script>".to_owned())],
            code: None,
            nonce: None,
            state: None,
        };
        let body = page(&landing).into_body();
        let body = axum::body::to_bytes(body, 65_536).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(body.contains("action=\"https://rp.example/cb?a=1&amp;b=2\""));
        assert!(body.contains("value=\"&quot;&gt;&lt;script&gt;"));
        assert_eq!(body.matches("<script>").count(), 1);
    }
}
