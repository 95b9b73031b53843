//! Who answers what a handshake needs to know.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_credential::{Evidence, Fetched, Need, Unavailable};
use selfsame_crypto::time::UnixTime;

/// Answers the needs of handshakes. Several are asked for at the same time, and a need that is no longer wanted is
/// dropped in the middle.
#[async_trait]
pub trait Gather: Send + Sync {
    /// What is known of this need at `now`, good or bad; evidence that does not answer it is as good as none, and the
    /// handshake ends when its patience does.
    async fn gather(&self, need: &Need, now: UnixTime) -> Evidence;
}

/// The same for programs without a runtime. Each need is asked for on a thread of its own, which goes on for as long as
/// it takes, so an implementation has time-outs.
pub trait GatherBlocking: Send + Sync + 'static {
    /// As [`Gather::gather`].
    fn gather(&self, need: &Need, now: UnixTime) -> Evidence;
}

/// Fetches nothing: for peers whose DIDs hold all there is to know (did:key, did:jwk) or who staple what is needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

#[async_trait]
impl Gather for Offline {
    async fn gather(&self, need: &Need, now: UnixTime) -> Evidence {
        GatherBlocking::gather(self, need, now)
    }
}

impl GatherBlocking for Offline {
    fn gather(&self, need: &Need, now: UnixTime) -> Evidence {
        let mut evidence = Evidence::default();
        match need {
            Need::Did(did) => evidence.insert_did(did.clone(), nothing(now)),
            Need::StatusList(uri) => evidence.insert_status_list(uri.clone(), nothing(now)),
            Need::IssuerMetadata(iss) => {
                evidence.insert_issuer_metadata(iss.clone(), nothing(now));
            }
            Need::JwkSet(uri) => evidence.insert_jwk_set(uri.clone(), nothing(now)),
            Need::Use { issuer, digest } => {
                evidence.insert_single_use((issuer.clone(), *digest), nothing(now));
            }
            Need::Signature(_) => {}
        }
        evidence
    }
}

fn nothing<T>(at: UnixTime) -> Fetched<T> {
    let reason = "nothing is fetched here".to_owned();
    Fetched {
        value: Err(Unavailable { reason }),
        at,
    }
}

#[async_trait]
impl<G: Gather + ?Sized> Gather for Arc<G> {
    async fn gather(&self, need: &Need, now: UnixTime) -> Evidence {
        (**self).gather(need, now).await
    }
}
