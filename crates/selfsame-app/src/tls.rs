//! Evidence for TLS handshakes: DIDs, credentials' status lists and revocation lists of peers, cached for a short time,
//! and fetched in advance for expected peers.

mod node_connector;
mod stapler;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use selfsame_crypto::json::weight_of;
use selfsame_crypto::time::UnixTime;
use selfsame_did::method::Origin;
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_driver::Result;
use selfsame_ledger::Registry;
use selfsame_net::{Cache, CacheSettings, CallLimits, Fresh, NetError, Request};
use selfsame_tls::HandshakeNeed;
use selfsame_tls::evidence::{Crl, Failure, Found, MAX_CRL_BYTES, NeedAnswer, Source};
use selfsame_tls::identity::Ledger;
use selfsame_tls::resumption::AtHand;
use selfsame_tls_io::Gather;
use tokio::sync::OnceCell;
use url::Url;

use crate::app::App;
use selfsame_core::Shared;
use selfsame_core::gather::Freshness;

pub use node_connector::NodeConnector;
pub use stapler::Stapler;

/// Number of peers cached.
const CAPACITY: usize = 16_384;
/// Number of revocation lists cached.
const LISTS: usize = 64;
/// Bytes of memory that the cached documents may take together. Any peer may name any DID.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// Seconds that fetching a revocation list may take.
const CRL_SECONDS: u64 = 20;

/// For how many seconds fetched documents are used again; a revoked peer may be admitted for as long. Only documents
/// and lists are cached, never conclusions from them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reuse {
    /// The resolution of a DID.
    pub did: u64,
    /// A status list.
    pub status_list: u64,
    /// A revocation list.
    pub crl: u64,
}

impl Default for Reuse {
    fn default() -> Self {
        Self {
            did: 30,
            status_list: 60,
            crl: 600,
        }
    }
}

/// Answers the evidence requests of handshakes.
pub struct Gatherer {
    shared: Arc<Shared>,
    registry: Option<Arc<dyn Registry>>,
    reuse: Reuse,
    dids: Cache<Did, Found<Arc<Resolution>>>,
    crls: Cache<String, Arc<Crl>>,
    ledger: OnceCell<Option<Ledger>>,
}

impl Gatherer {
    /// A gatherer for an instance, using its resolver, its registry's verified reads and its status lists.
    #[must_use]
    pub fn new(app: &App, reuse: Reuse) -> Self {
        let kept = |capacity, ttl| CacheSettings {
            capacity,
            max_bytes: MOST_BYTES,
            ttl,
            negative_ttl: 2,
        };
        Self {
            shared: Arc::clone(&app.shared),
            registry: app.registry.clone(),
            reuse,
            dids: Cache::new(kept(CAPACITY, reuse.did), weight_of_found),
            // The operator configures these lists, so strangers cannot make them many.
            crls: Cache::new(kept(LISTS, reuse.crl), |_| 0),
            ledger: OnceCell::new(),
        }
    }

    /// The reader that verifies staples of this instance's registry; `None` without a registry. It shares the memory of
    /// the registry's client: each knows what the other has verified.
    ///
    /// # Errors
    /// The registry's, if its genesis is unavailable.
    pub async fn ledger(&self) -> Result<Option<Ledger>> {
        let opened = self.ledger.get_or_try_init(|| async {
            match &self.registry {
                Some(registry) => registry.reader().await.map(Some),
                None => Ok(None),
            }
        });
        opened.await.cloned()
    }

    /// Fetches all of these at once, so that they are cached when a peer presents them: the DID of a server before
    /// connecting, the lists of trusted issuers.
    pub async fn prefetch(&self, needs: &[HandshakeNeed]) {
        let now = self.shared.clock.now();
        join_all(needs.iter().map(|need| self.gather(need, now))).await;
    }

    /// Drops the cached copy, so that the next request fetches it.
    pub fn forget(&self, need: &HandshakeNeed) {
        match need {
            HandshakeNeed::Did(did) => {
                self.shared.resolver.forget(did);
                self.dids.forget(did);
            }
            HandshakeNeed::Crl(uri) => self.crls.forget(uri),
            // A status list is fetched again once it is older than allowed.
            _ => {}
        }
    }

    async fn did(&self, did: &Did, now: UnixTime) -> Found<Arc<Resolution>> {
        let fetch = async {
            let resolver = &self.shared.resolver;
            let (resolution, as_of) = resolver.resolve(did, &Options::default(), now).await;
            let source = source(did, &resolution);
            match resolution.metadata.error {
                // A failed resolution is no evidence; a DID found not to exist is.
                Some(ResolutionError::InternalError) => {
                    Err(NetError::Malformed("the answer of a resolver"))
                }
                Some(_) => Ok(Fresh::negative(Found::new(resolution, as_of, source))),
                None => Ok(Fresh::new(Found::new(resolution, as_of, source))),
            }
        };
        match self.dids.get(did, now, fetch).await {
            Ok((found, _)) => (*found).clone(),
            Err(_) => Found::failed(Failure::Unavailable, now),
        }
    }

    async fn crl(&self, uri: &String, now: UnixTime) -> Found<Arc<Crl>> {
        let fetch = async {
            let malformed = NetError::Malformed("a revocation list");
            let url = Url::parse(uri).map_err(|_| malformed.clone())?;
            let request = Request {
                accept: Some("application/pkix-crl"),
                limits: Some(CallLimits {
                    max_body: MAX_CRL_BYTES,
                    total_timeout: Duration::from_secs(CRL_SECONDS),
                }),
                redirects: 2,
                ..Request::default()
            };
            let response = self.shared.net.get(&url, &request).await?;
            let list = response.is_success().then(|| Crl::parse(&response.body));
            Ok(Fresh::new(Arc::new(list.flatten().ok_or(malformed)?)))
        };
        match self.crls.get(uri, now, fetch).await {
            Ok((list, at)) => Found::new(Arc::clone(&list), at, Source::Signature),
            Err(error) => {
                tracing::warn!(%error, uri, "a revocation list is not available");
                Found::failed(Failure::Unavailable, now)
            }
        }
    }
}

#[async_trait]
impl Gather for Gatherer {
    async fn gather(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        match need {
            HandshakeNeed::Did(did) => NeedAnswer::Did(did.clone(), self.did(did, now).await),
            HandshakeNeed::StatusList(uri) => {
                let freshness = Freshness {
                    max_status_age: self.reuse.status_list,
                };
                let fetched = self.shared.status_list(uri, freshness).await;
                let found = match fetched.value {
                    Ok(list) => Found::new(list, fetched.at, Source::Signature),
                    Err(_) => Found::failed(Failure::Unavailable, now),
                };
                NeedAnswer::StatusList(uri.clone(), found)
            }
            HandshakeNeed::Crl(uri) => NeedAnswer::Crl(uri.clone(), self.crl(uri, now).await),
            other => NeedAnswer::failed(other.clone(), Failure::Unavailable, now),
        }
    }
}

impl AtHand for Gatherer {
    fn at_hand(&self, need: &HandshakeNeed, now: UnixTime) -> Option<NeedAnswer> {
        match need {
            HandshakeNeed::Did(did) => {
                let (found, _) = self.dids.at_hand(did, now)?.ok()?;
                Some(NeedAnswer::Did(did.clone(), (*found).clone()))
            }
            HandshakeNeed::StatusList(uri) => {
                let freshness = Freshness {
                    max_status_age: self.reuse.status_list,
                };
                let (list, at) = self.shared.status_list_at_hand(uri, freshness)?;
                let found = Found::new(list, at, Source::Signature);
                Some(NeedAnswer::StatusList(uri.clone(), found))
            }
            HandshakeNeed::Crl(uri) => {
                let (list, at) = self.crls.at_hand(uri, now)?.ok()?;
                let found = Found::new((*list).clone(), at, Source::Signature);
                Some(NeedAnswer::Crl(uri.clone(), found))
            }
            _ => None,
        }
    }
}

impl fmt::Debug for Gatherer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gatherer")
            .field("reuse", &self.reuse)
            .finish_non_exhaustive()
    }
}

/// Why the resolution can be trusted.
fn source(did: &Did, resolution: &Resolution) -> Source {
    match (did.origin(), &resolution.metadata.trusted_resolver) {
        (_, Some(_)) | (Origin::Resolver, None) => Source::Word,
        (Origin::Itself | Origin::Peer, None) => Source::Itself,
        (Origin::Registry, None) => Source::Registry,
        (Origin::Host | Origin::Log, None) => Source::Host,
    }
}
fn weight_of_found(found: &Found<Arc<Resolution>>) -> usize {
    found
        .value
        .as_ref()
        .map_or(0, |resolution| weight_of(resolution.as_ref()))
}
