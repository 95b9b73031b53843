//! The `Gather` traits, which fetch the evidence that a handshake needs.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::HandshakeNeed;
use selfsame_tls::evidence::{Failure, NeedAnswer};

/// Fetches the evidence that handshakes need. Several needs are gathered concurrently, and the future of a need that is
/// no longer wanted is dropped before it completes.
#[async_trait]
pub trait Gather: Send + Sync {
    /// The answer to `need` at `now`, good or bad. The peer waits for it as long as the patience of
    /// [`selfsame_tls::Limits`] allows.
    async fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer;
}

/// `Gather` for programs without a runtime. Each need is gathered on its own thread, which is never interrupted, so
/// an implementation sets its own time-outs.
pub trait GatherBlocking: Send + Sync + 'static {
    /// See [`Gather::gather`].
    fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer;
}

/// Fetches nothing. For peers whose DIDs contain all that is needed (did:key, did:jwk), or who staple it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

#[async_trait]
impl Gather for Offline {
    async fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        GatherBlocking::gather(self, need, now)
    }
}

impl GatherBlocking for Offline {
    fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        NeedAnswer::failed(need.clone(), Failure::Unavailable, now)
    }
}

#[async_trait]
impl<G: Gather + ?Sized> Gather for Arc<G> {
    async fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        (**self).gather(need, now).await
    }
}
