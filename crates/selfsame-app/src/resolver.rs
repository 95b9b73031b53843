//! Resolves DIDs of every method: locally, from the registry, over the web, or by a configured resolver; with a cache.

use std::sync::Arc;

use crate::config::Config;
use selfsame_credential::evidence::{Fetched, Unavailable};
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Plan, Representation, Resolution, ResolutionError};
use selfsame_net::{Cache, CacheSettings, Fresh, Net, NetError, Request};
use url::Url;

use crate::registry::Registry;

/// Documents are used for a minute without asking again; a failure is remembered for less, so that a dead host is
/// not asked for each credential.
const CACHE: CacheSettings = CacheSettings {
    capacity: 4096,
    ttl: 60,
    negative_ttl: 5,
};

/// The resolver of one instance.
pub struct Resolver {
    net: Net,
    registry: Option<Arc<dyn Registry>>,
    foreign: Option<Url>,
    /// Origins of our own that are served without TLS.
    plain: Vec<Url>,
    cache: Cache<String, Resolution>,
}

impl Resolver {
    /// A resolver that asks this registry for `did:selfsame` and the configured one for what nobody here knows.
    #[must_use]
    pub fn new(net: Net, registry: Option<Arc<dyn Registry>>, config: &Config) -> Self {
        let origins = std::iter::once(&config.origin).chain(&config.trust.origins);
        Self {
            net,
            registry,
            foreign: config.foreign_resolver.clone(),
            plain: origins
                .filter(|origin| origin.scheme() == "http")
                .cloned()
                .collect(),
            cache: Cache::new(CACHE),
        }
    }

    /// Resolves a DID; errors stand in the result's metadata.
    pub async fn resolve(
        &self,
        did: &Did,
        options: &Options,
        now: UnixTime,
    ) -> (Arc<Resolution>, UnixTime) {
        match selfsame_did::plan(did, options) {
            Err(error) => (Arc::new(Resolution::failed(error)), now),
            Ok(Plan::Done(resolution)) => (Arc::from(resolution), now),
            Ok(Plan::Registry { did, options }) => {
                (Arc::new(self.ask_registry(&did, &options).await), now)
            }
            Ok(Plan::Fetch { url }) => {
                self.cached(did, options, now, self.ask_web(did, &url))
                    .await
            }
            Ok(Plan::Foreign(did)) => {
                self.cached(&did, options, now, self.ask_foreign(&did, options))
                    .await
            }
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

    /// Forgets what is known of a DID as it is now, because it was changed here.
    pub fn forget(&self, did: &Did) {
        for accept in [
            Representation::Did,
            Representation::JsonLd,
            Representation::Json,
        ] {
            let options = Options {
                accept,
                ..Options::default()
            };
            self.cache.forget(&cached_at(did, &options));
        }
    }
}

impl Resolver {
    async fn ask_registry(&self, did: &Did, options: &Options) -> Resolution {
        match &self.registry {
            Some(registry) => registry.resolve(did, options).await,
            None => Resolution::failed(ResolutionError::MethodNotSupported),
        }
    }

    async fn cached(
        &self,
        did: &Did,
        options: &Options,
        now: UnixTime,
        fetch: impl Future<Output = Result<Resolution, NetError>>,
    ) -> (Arc<Resolution>, UnixTime) {
        let key = cached_at(did, options);
        let fetched = self.cache.get(&key, now, async {
            let resolution = fetch.await?;
            // What is missing or gone may come (back) sooner than a document changes.
            Ok(if resolution.metadata.error.is_some() {
                Fresh::negative(resolution)
            } else {
                Fresh::new(resolution)
            })
        });
        fetched.await.unwrap_or_else(|_| {
            (
                Arc::new(Resolution::failed(ResolutionError::InternalError)),
                now,
            )
        })
    }

    async fn ask_web(&self, did: &Did, url: &Url) -> Result<Resolution, NetError> {
        let url = self.plain_if_own(url);
        Ok(
            match self
                .fetch(&url, "application/did, application/json;q=0.9")
                .await?
            {
                Some(body) => selfsame_did::web::read(did, &body),
                None => Resolution::failed(ResolutionError::NotFound),
            },
        )
    }

    async fn ask_foreign(&self, did: &Did, options: &Options) -> Result<Resolution, NetError> {
        let Some(url) = self
            .foreign
            .as_ref()
            .and_then(|base| identifiers_url(base, did, options))
        else {
            return Ok(Resolution::failed(ResolutionError::MethodNotSupported));
        };
        Ok(
            match self.fetch(&url, "application/did-resolution").await? {
                Some(body) => Resolution::parse(&body, did),
                None => Resolution::failed(ResolutionError::NotFound),
            },
        )
    }

    /// did:web knows only TLS; an instance on loopback without it still resolves its own.
    fn plain_if_own(&self, url: &Url) -> Url {
        let mut plain = url.clone();
        let own = plain.set_scheme("http").is_ok()
            && plain.set_port(url.port()).is_ok()
            && self
                .plain
                .iter()
                .any(|origin| origin.origin() == plain.origin());
        if own { plain } else { url.clone() }
    }

    /// The body, or nothing if there is none at that address.
    async fn fetch(&self, url: &Url, accept: &str) -> Result<Option<Vec<u8>>, NetError> {
        let request = Request {
            accept: Some(accept),
            redirects: 2,
            ..Request::default()
        };
        let failed = |reason: &str| {
            tracing::warn!(
                reason,
                host = url.host_str(),
                "a DID document could not be fetched"
            )
        };
        match self.net.get(url, &request).await {
            // A resolver answers 410 with a result in its body.
            Ok(response) if response.is_success() || response.status == 410 => {
                Ok(Some(response.body.to_vec()))
            }
            Ok(response) if response.status == 404 => Ok(None),
            Ok(response) => {
                failed(&format!("status {}", response.status));
                Err(NetError::Malformed("an answer other than a success"))
            }
            Err(error) => {
                failed(&error.to_string());
                Err(error)
            }
        }
    }
}

/// Where a resolution stands in the cache.
fn cached_at(did: &Did, options: &Options) -> String {
    format!(
        "{did} {:?} {:?} {:?}",
        options.version_id, options.version_time, options.accept
    )
}

/// The address of a resolution at a Universal Resolver's HTTP face.
fn identifiers_url(base: &Url, did: &Did, options: &Options) -> Option<Url> {
    let mut url = base.clone();
    url.path_segments_mut()
        .ok()?
        .pop_if_empty()
        .extend(["1.0", "identifiers", did.as_str()]);
    if let Some(version) = &options.version_id {
        url.query_pairs_mut().append_pair("versionId", version);
    }
    if let Some(time) = options.version_time {
        url.query_pairs_mut()
            .append_pair("versionTime", &time.rfc3339());
    }
    Some(url)
}
