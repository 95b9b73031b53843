//! Messages to the controllers of agents, in ACA-Py's form: a POST of the record to `{url}/topic/{topic}/`.

use selfsame_core::Shared;
use selfsame_core::notice::{NOTICE, Told};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Reason, Result};
use selfsame_net::{Authorization, Body, Call, CallHeader, CallLimits, Method, Request};
use selfsame_store::TenantId;
use url::Url;

use crate::delivery::NoticeAt;
use crate::endpoint::ControllerAt;
use crate::patience::Attempted;

/// A message to a controller.
pub(crate) struct ToController<'a> {
    /// The base of the controller's addresses.
    pub url: &'a Url,
    /// Who it is.
    pub controller: &'a ControllerAt,
    /// What is told; `None` for a test.
    pub notice: Option<&'a NoticeAt>,
}

impl ToController<'_> {
    /// Sends it once. A notice that is not kept any more is not sent.
    pub async fn send(&self, shared: &Shared, limits: CallLimits) -> Attempted {
        let told = match self.told(shared).await {
            Ok(Some(told)) => told,
            Ok(None) => return Attempted::Delivered,
            Err(error) => return Attempted::unmade(error.reason),
        };
        let Some(url) = self.address(&told.topic) else {
            return Attempted::unmade(Reason::new("webhook-topic-malformed"));
        };
        let key = self.controller.key.expose();
        let wallet = self.controller.wallet.as_deref().unwrap_or_default();
        let header = |name, value| CallHeader { name, value };
        let headers = [header("x-api-key", key), header("x-wallet-id", wallet)];
        let headers: Vec<_> = headers
            .into_iter()
            .filter(|header| !header.value.is_empty())
            .collect();
        let call = Call {
            method: Method::Post,
            url: &url,
            body: Body::Json(told.payload.to_string().into_bytes()),
            authorization: Authorization::None,
            request: Request {
                limits: Some(limits),
                headers: &headers,
                ..Request::default()
            },
        };
        Attempted::of(shared.net.call(call).await)
    }

    async fn told(&self, shared: &Shared) -> Result<Option<Told>> {
        let Some(NoticeAt { tenant, id }) = self.notice else {
            return Ok(Some(Told::new("webhook_test", &serde_json::json!({}))));
        };
        let tenant = TenantId::parse(tenant).map_err(Error::internal)?;
        let stored = shared.store.read(&tenant, NOTICE, id).await?;
        stored.map(|stored| decode(&stored.value)).transpose()
    }

    /// The address of a topic, below the URL.
    fn address(&self, topic: &str) -> Option<Url> {
        let mut url = self.url.clone();
        let mut path = url.path_segments_mut().ok()?;
        path.pop_if_empty().extend(["topic", topic, ""]);
        drop(path);
        Some(url)
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::SecretString;

    use super::*;

    #[test]
    fn a_topic_is_below_the_url_and_ends_with_a_slash() {
        let controller = ControllerAt {
            key: SecretString::from(""),
            wallet: None,
            is_configured: false,
        };
        for (url, address) in [
            ("http://c.example", "http://c.example/topic/connections/"),
            (
                "http://c.example/a/",
                "http://c.example/a/topic/connections/",
            ),
            (
                "http://c.example/a?b=c",
                "http://c.example/a/topic/connections/?b=c",
            ),
        ] {
            let url = url.parse().unwrap();
            let message = ToController {
                url: &url,
                controller: &controller,
                notice: None,
            };
            let found = message.address("connections").unwrap();
            assert_eq!(found.as_str(), address);
        }
    }
}
