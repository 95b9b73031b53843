//! What happened on the wire as a holder sees it: what was fetched, as the record takes it.

use selfsame_net::Response;
use selfsame_store::TenantId;
use selfsame_wire::{WalletFetch, WalletRequest, WalletWire, WireAnswer};
use url::Url;

/// The media type of forms.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// Something that was fetched.
pub struct SeenFetch<'a> {
    /// What it is.
    pub what: WalletFetch,
    /// Its address.
    pub url: &'a Url,
    /// The form that was posted, if one was.
    pub form: Option<&'a [(String, String)]>,
    /// The answer.
    pub response: &'a Response,
}

impl SeenFetch<'_> {
    /// Records it for a person.
    pub async fn record(self, wire: &WalletWire, tenant: &TenantId) {
        if !wire.is_on().await {
            return;
        }
        let body = self.form.map(encoded).unwrap_or_default();
        let named = flow_of(&self.response.body);
        let request = WalletRequest {
            method: if self.form.is_some() { "POST" } else { "GET" },
            url: self.url.as_str(),
            flow: named.as_deref(),
            token: None,
            media: if self.form.is_some() { FORM } else { "" },
            body: body.as_bytes(),
        };
        let answer = WireAnswer {
            status: self.response.status,
            location: None,
            nonce: None,
            refusal: None,
            media: self.response.content_type.as_deref().unwrap_or_default(),
            body: &self.response.body,
        };
        wire.fetched(tenant, self.what, &request, answer).await;
    }
}

/// A form as it is sent.
#[must_use]
pub fn encoded(pairs: &[(String, String)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(pairs).finish()
}

/// What the flow of a request object is called, which ties the answer to it.
fn flow_of(object: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(object).ok()?;
    let payload = text.trim().split('.').nth(1)?;
    let payload = selfsame_crypto::encoding::base64url_decode(payload).ok()?;
    let payload: serde_json::Value = serde_json::from_slice(&payload).ok()?;
    let address = Url::parse(payload["response_uri"].as_str()?).ok()?;
    let nonce = payload["nonce"].as_str()?;
    Some(WalletWire::presentation(address.as_str(), nonce))
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::encoding::base64url_encode;
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_with_one_address_for_answers_are_of_different_flows() {
        let flow = |nonce: &str| {
            let payload =
                json!({"response_uri": "https://verifier.example/answers", "nonce": nonce});
            let payload = base64url_encode(payload.to_string().as_bytes());
            flow_of(format!("e30.{payload}.AA").as_bytes())
        };
        assert!(flow("a").is_some());
        assert_ne!(flow("a"), flow("b"));
        assert_eq!(flow_of(b"no request object"), None);
    }
}
