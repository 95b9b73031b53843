//! Answers what handshakes need to know of peers with what the node resolves.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_app::App;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::Need;
use selfsame_tls::evidence::{Answer, Failure, Found, Source};
use selfsame_tls_io::Gather;

/// Resolves DIDs.
pub struct Resolved(pub Arc<App>);

#[async_trait]
impl Gather for Resolved {
    async fn gather(&self, need: &Need, now: UnixTime) -> Answer {
        let Need::Did(did) = need else {
            return Answer::failed(need.clone(), Failure::Unavailable, now);
        };
        let fetched = self.0.resolver().evidence(did, now).await;
        match fetched.value {
            Ok(resolution) => Answer::Did(
                did.clone(),
                Found::new(resolution, fetched.at, Source::Word),
            ),
            Err(_) => Answer::failed(need.clone(), Failure::Unavailable, now),
        }
    }
}
