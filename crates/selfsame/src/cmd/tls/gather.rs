//! Answers what handshakes need to know of peers with what the node resolves.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_app::App;
use selfsame_credential::Fetched;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::Need;
use selfsame_tls::evidence::{Answer, Failure, Found, Source};
use selfsame_tls_io::Gather;

/// A status list is fetched again after so many seconds: a revoked peer is let in for no longer.
const STATUS_SECONDS: u64 = 5;

/// Resolves DIDs and fetches status lists.
pub struct Resolved(pub Arc<App>);

#[async_trait]
impl Gather for Resolved {
    async fn gather(&self, need: &Need, now: UnixTime) -> Answer {
        match need {
            Need::Did(did) => {
                let fetched = self.0.resolver().evidence(did, now).await;
                Answer::Did(did.clone(), found(fetched, Source::Word, now))
            }
            Need::StatusList(uri) => {
                let fetched = self.0.status_list(uri, STATUS_SECONDS).await;
                Answer::StatusList(uri.clone(), found(fetched, Source::Signature, now))
            }
            _ => Answer::failed(need.clone(), Failure::Unavailable, now),
        }
    }
}

fn found<T>(fetched: Fetched<T>, source: Source, now: UnixTime) -> Found<T> {
    match fetched.value {
        Ok(value) => Found::new(value, fetched.at, source),
        Err(_) => Found::failed(Failure::Unavailable, now),
    }
}
