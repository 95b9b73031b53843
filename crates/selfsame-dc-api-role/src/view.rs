//! What is taken and returned.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What a page says by a browser: its request to a wallet, or the answer that came back to it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PageMessage {
    /// The origin of the page, as the browser writes it: `https://shop.example`, without a slash at its end. The caller
    /// vouches for it: it is never taken from the page's own words.
    pub origin: String,
    /// The protocol of the exchange.
    #[schema(value_type = BrowserProtocol)]
    pub protocol: String,
    /// The member `data` of the request or of the answer.
    #[schema(value_type = Object)]
    pub data: Value,
}

/// What a page gives to `navigator.credentials.get`, as the member `digital`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct BrowserRequests {
    /// The requests, of which a wallet answers one.
    pub requests: Vec<BrowserRequest>,
}

/// A request for a browser.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct BrowserRequest {
    /// The protocol of the exchange.
    #[schema(value_type = BrowserProtocol)]
    pub protocol: String,
    /// The request.
    #[schema(value_type = Object)]
    pub data: Value,
}

/// The protocols of the exchange (OpenID4VP 1.0 Appendix A.1).
#[derive(ToSchema)]
pub enum BrowserProtocol {
    /// The request is not signed.
    #[schema(rename = "openid4vp-v1-unsigned")]
    Unsigned,
    /// One identity of the verifier signs it.
    #[schema(rename = "openid4vp-v1-signed")]
    Signed,
    /// Each identity of the verifier signs it.
    #[schema(rename = "openid4vp-v1-multisigned")]
    Multisigned,
}

#[cfg(test)]
mod tests {
    use selfsame_dc_api::ExchangeProtocol;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn each_protocol_of_the_description_is_one_that_is_spoken() {
        let schema = serde_json::to_value(BrowserProtocol::schema()).unwrap();
        let described: Vec<String> = serde_json::from_value(schema["enum"].clone()).unwrap();
        assert_eq!(
            described,
            ExchangeProtocol::ALL.map(ExchangeProtocol::as_str)
        );
    }
}
