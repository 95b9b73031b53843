//! Resolves DIDs of every method: locally, from the registry, over the web, or by a configured resolver; with a cache.

use std::sync::Arc;
use std::time::Duration;

use selfsame_credential::evidence::{Fetched, Unavailable};
use selfsame_crypto::json;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Plan, Resolution, ResolutionError};
use selfsame_net::{Cache, Net, Request};
use url::Url;

use crate::registry::Registry;

/// How long a fetched document is used without asking again.
const LIFETIME: Duration = Duration::from_secs(60);
/// How long a failure is remembered, so that a dead host is not asked for each credential.
const FAILURE_LIFETIME: Duration = Duration::from_secs(5);
/// So many documents are kept.
const CACHED_MAX: usize = 4096;

/// The resolver of one instance.
pub struct Resolver {
    net: Net,
    registry: Option<Arc<dyn Registry>>,
    foreign: Option<Url>,
    cache: Cache<String, Resolution>,
}

impl Resolver {
    /// A resolver that asks this registry for `did:selfsame` and `foreign`, a Universal Resolver, for what nobody here knows.
    #[must_use]
    pub fn new(net: Net, registry: Option<Arc<dyn Registry>>, foreign: Option<Url>) -> Self {
        Self {
            net,
            registry,
            foreign,
            cache: Cache::new(CACHED_MAX, FAILURE_LIFETIME),
        }
    }

    /// Resolves a DID; errors stand in the result's metadata.
    pub async fn resolve(&self, did: &Did, options: &Options, now: UnixTime) -> (Arc<Resolution>, UnixTime) {
        match selfsame_did::plan(did, options) {
            Err(error) => (Arc::new(Resolution::failed(error)), now),
            Ok(Plan::Done(resolution)) => (Arc::new(resolution), now),
            Ok(Plan::Registry { did, options }) => (Arc::new(self.from_registry(&did, &options).await), now),
            Ok(Plan::Fetch { url }) => self.cached(did, options, now, || self.from_web(did, &url)).await,
            Ok(Plan::Foreign(did)) => self.cached(&did, options, now, || self.from_foreign(&did, options)).await,
        }
    }

    /// The resolution as evidence for a judgement.
    pub async fn evidence(&self, did: &Did, now: UnixTime) -> Fetched<Resolution> {
        let (resolution, at) = self.resolve(did, &Options::default(), now).await;
        let value = match &resolution.metadata.error {
            // What could not be had is no evidence; what was found missing or gone is.
            Some(ResolutionError::InternalError) => Err(Unavailable {
                reason: format!("{} could not be resolved", did.as_str()),
            }),
            _ => Ok((*resolution).clone()),
        };
        Fetched { value, at }
    }
}

impl Resolver {
    async fn from_registry(&self, did: &Did, options: &Options) -> Resolution {
        match &self.registry {
            Some(registry) => registry.resolve(did, options).await,
            None => Resolution::failed(ResolutionError::MethodNotSupported),
        }
    }

    async fn cached<F>(
        &self,
        did: &Did,
        options: &Options,
        now: UnixTime,
        fetch: impl FnOnce() -> F + Send,
    ) -> (Arc<Resolution>, UnixTime)
    where
        F: Future<Output = Result<Resolution, Resolution>> + Send,
    {
        let key = format!("{} {:?} {:?}", did.as_str(), options.version_id, options.version_time);
        let fetched = self.cache.get(key, now, || async {
            fetch().await.map(|resolution| (resolution, LIFETIME))
        });
        match fetched.await {
            Ok(found) => found,
            Err(failed) => (failed, now),
        }
    }

    async fn from_web(&self, did: &Did, url: &Url) -> Result<Resolution, Resolution> {
        let accept = "application/did, application/json;q=0.9";
        match self.fetch(url, accept).await? {
            Some(body) => keep(selfsame_did::web::read(did, &body)),
            None => Err(Resolution::failed(ResolutionError::NotFound)),
        }
    }

    async fn from_foreign(&self, did: &Did, options: &Options) -> Result<Resolution, Resolution> {
        let Some(base) = &self.foreign else {
            return Err(Resolution::failed(ResolutionError::MethodNotSupported));
        };
        let url = identifiers_url(base, did, options)
            .ok_or_else(|| Resolution::failed(ResolutionError::InternalError))?;
        // A resolver answers 404 and 410 with a result too; what is no result counts as not answered.
        match self.fetch(&url, "application/did-resolution").await? {
            Some(body) => keep(Resolution::parse(did, &body)),
            None => Err(Resolution::failed(ResolutionError::NotFound)),
        }
    }

    /// The body, or nothing if there is none at that address.
    async fn fetch(&self, url: &Url, accept: &str) -> Result<Option<Vec<u8>>, Resolution> {
        let unavailable = || Resolution::failed(ResolutionError::InternalError);
        let request = Request { accept: Some(accept), ..Request::default() };
        match self.net.get(url, &request).await {
            Ok(response) if response.is_success() || response.status == 410 => Ok(Some(response.body.to_vec())),
            Ok(response) if response.status == 404 => Ok(None),
            Ok(response) => {
                tracing::warn!(status = response.status, host = url.host_str(), "a DID document could not be fetched");
                Err(unavailable())
            }
            Err(error) => {
                tracing::warn!(reason = %error, host = url.host_str(), "a DID document could not be fetched");
                Err(unavailable())
            }
        }
    }
}

/// Failures are kept for a shorter time than documents.
fn keep(resolution: Resolution) -> Result<Resolution, Resolution> {
    if resolution.metadata.error.is_some() { Err(resolution) } else { Ok(resolution) }
}

/// The address of a resolution at a Universal Resolver's HTTP face.
fn identifiers_url(base: &Url, did: &Did, options: &Options) -> Option<Url> {
    let mut url = base.clone();
    url.path_segments_mut().ok()?.pop_if_empty().extend(["1.0", "identifiers", did.as_str()]);
    if let Some(version) = &options.version_id {
        url.query_pairs_mut().append_pair("versionId", version);
    }
    if let Some(time) = options.version_time {
        url.query_pairs_mut().append_pair("versionTime", &time.rfc3339());
    }
    Some(url)
}
