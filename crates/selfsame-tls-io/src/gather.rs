//! Who answers what a handshake needs to know.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::Need;
use selfsame_tls::evidence::{Answer, Failure};

/// Answers the needs of handshakes. Several are asked for at the same time, and a need that is no longer wanted is
/// dropped in the middle.
#[async_trait]
pub trait Gather: Send + Sync {
    /// What is known of this need at `now`, good or bad. Until it is there the peer waits, for as long as the patience
    /// of [`selfsame_tls::Limits`] lasts.
    async fn gather(&self, need: &Need, now: UnixTime) -> Answer;
}

/// The same for programs without a runtime. Each need is asked for on a thread of its own, which goes on for as long as
/// it takes, so an implementation has time-outs.
pub trait GatherBlocking: Send + Sync + 'static {
    /// As [`Gather::gather`].
    fn gather(&self, need: &Need, now: UnixTime) -> Answer;
}

/// Fetches nothing: for peers whose DIDs hold all there is to know (did:key, did:jwk) or who staple what is needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

#[async_trait]
impl Gather for Offline {
    async fn gather(&self, need: &Need, now: UnixTime) -> Answer {
        GatherBlocking::gather(self, need, now)
    }
}

impl GatherBlocking for Offline {
    fn gather(&self, need: &Need, now: UnixTime) -> Answer {
        Answer::failed(need.clone(), Failure::Unavailable, now)
    }
}

#[async_trait]
impl<G: Gather + ?Sized> Gather for Arc<G> {
    async fn gather(&self, need: &Need, now: UnixTime) -> Answer {
        (**self).gather(need, now).await
    }
}
