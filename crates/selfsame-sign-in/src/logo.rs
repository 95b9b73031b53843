//! The logos of clients: fetched once where a registration names an address, judged, and held as bytes, because pages load
//! nothing from elsewhere.

use std::time::Duration;

use selfsame_net::{CallLimits, Request};
use selfsame_oidc::ClientRegistration;
use selfsame_types::image;
use url::Url;

use crate::clients::FoundClient;
use crate::service::SignIns;

/// The largest logo that is held, in bytes.
const BYTES_MAX: usize = 24 * 1024;
/// How long it is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// A logo may stand behind one redirect, as those of content delivery networks do.
const REDIRECTS: u8 = 1;

impl SignIns {
    /// The logo at the address that a registration names, as a `data:` URI; `None` without an address. No registration
    /// fails for its logo: what can't be had, or is no safe image, is told in the log.
    pub(crate) async fn fetched_logo(&self, registration: &ClientRegistration) -> Option<String> {
        let url = registration.logo_uri.as_ref();
        let url = url.filter(|url| matches!(url.scheme(), "https" | "http"))?;
        let request = Request {
            accept: Some("image/png, image/svg+xml, image/webp, image/jpeg"),
            limits: Some(CallLimits {
                max_body: BYTES_MAX,
                total_timeout: PATIENCE,
            }),
            redirects: REDIRECTS,
            ..Request::default()
        };
        let host = url.host_str();
        let answer = match self.shared().net.get(url, &request).await {
            Ok(answer) if answer.is_success() => answer,
            Ok(answer) => {
                tracing::warn!(host, answer.status, "the logo of a client is not there");
                return None;
            }
            Err(error) => {
                tracing::warn!(host, %error, "the logo of a client can't be fetched");
                return None;
            }
        };
        let held = image::data_uri(&answer.body, BYTES_MAX);
        held.inspect_err(|reason| {
            tracing::warn!(host, %reason, "the logo of a client is no safe image");
        })
        .ok()
    }
}

impl FoundClient {
    /// The logo that pages can show, as a `data:` URI: the one in the registration itself, or the one that is held.
    #[must_use]
    pub fn logo(&self) -> Option<&str> {
        let own = self.party.logo_uri.as_ref();
        let own = own.filter(|logo| logo.scheme() == "data");
        own.map(Url::as_str).or(self.held_logo.as_deref())
    }
}
