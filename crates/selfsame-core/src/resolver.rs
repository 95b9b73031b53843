//! Resolves DIDs of every method: locally, from the registry, over the web, or by a configured resolver. Has a cache.

mod elsewhere;
mod logs;

use std::sync::Arc;

use crate::config::SharedConfig;
use crate::fetches::Recency;
use crate::registry::RegistryClient;

use selfsame_credential::evidence::{Fetched, Unavailable};
use selfsame_crypto::json::{weight, weight_of};
use selfsame_crypto::time::UnixTime;
use selfsame_did::method::METHODS;
use selfsame_did::method::cheqd::resource::WantedResource;
use selfsame_did::{
    Did, DidUrl, DocumentMetadata, Options, Representation, Resolution, ResolutionError,
    ResolutionPlan,
};
use selfsame_driver::{CpuPool, Reason};
use selfsame_net::guard::plain_if_own;
use selfsame_net::{Cache, CacheSettings, Fresh, Net, NetError, Request};
use selfsame_webvh::Log;
use url::Url;

use elsewhere::Elsewhere;

pub use elsewhere::Linked;

/// Maximum number of cached documents.
const CAPACITY: usize = 4096;
/// Maximum memory of all cached documents, in bytes. Anyone may have any document resolved.
const DOCUMENT_BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of cached resources.
const LINKED: usize = 64;
/// Maximum memory of all cached resources, in bytes.
const LINKED_BYTES: usize = 16 * 1024 * 1024;

/// The resolver of one instance.
pub struct Resolver {
    net: Net,
    registry: Option<Arc<dyn RegistryClient>>,
    elsewhere: Vec<Elsewhere>,
    /// This instance's and trusted origins that are served without TLS.
    plain: Vec<Url>,
    cache: Cache<String, Resolution>,
    linked: Cache<String, Result<Linked, ResolutionError>>,
    logs: Cache<String, Log>,
    reading: CpuPool,
}

impl Resolver {
    /// A resolver that asks this registry for `did:selfsame`, and the configured resolvers for foreign methods. It reads
    /// logs in the pool.
    #[must_use]
    pub fn new(
        net: Net,
        registry: Option<Arc<dyn RegistryClient>>,
        reading: CpuPool,
        config: &SharedConfig,
    ) -> Self {
        let origins = std::iter::once(&config.origin).chain(&config.trust.origins);
        let kept = |(capacity, max_bytes)| CacheSettings {
            capacity,
            max_bytes,
            ttl: config.resolver.ttl,
            negative_ttl: config.resolver.negative_ttl,
        };
        Self {
            net,
            registry,
            elsewhere: Elsewhere::configured(&config.resolver),
            plain: origins
                .filter(|origin| origin.scheme() == "http")
                .cloned()
                .collect(),
            cache: Cache::new(kept((CAPACITY, DOCUMENT_BYTES)), weight_of),
            linked: Cache::new(kept((LINKED, LINKED_BYTES)), weight_of_linked),
            logs: Cache::new(logs::KEPT, Log::weight),
            reading,
        }
    }

    /// Resolves a DID, and returns the time as of which the result holds. Errors are in the result's metadata.
    pub async fn resolve(
        &self,
        did: &Did,
        options: &Options,
        now: UnixTime,
    ) -> (Arc<Resolution>, UnixTime) {
        self.resolved(did, options, Recency::any(now)).await
    }

    async fn resolved(
        &self,
        did: &Did,
        options: &Options,
        when: Recency,
    ) -> (Arc<Resolution>, UnixTime) {
        let now = when.now;
        match METHODS.plan(did, options) {
            Err(error) => (Arc::new(Resolution::failed(error)), now),
            Ok(ResolutionPlan::Done(resolution)) => (Arc::from(resolution), now),
            Ok(ResolutionPlan::Registry {
                did: registered,
                options,
            }) => {
                let resolution = self.ask_registry(&registered, &options).await;
                let resolution = match registered == *did {
                    true => resolution,
                    false => Box::pin(self.anchored(did, &registered, resolution)).await,
                };
                let as_of = resolution.metadata.as_of.map_or(now, |as_of| as_of.time);
                (Arc::new(resolution), as_of)
            }
            // Boxed, as is each fetch of `gather`: otherwise every future that may resolve a DID is as large as its
            // rarest path, and is moved as a whole for each request.
            Ok(ResolutionPlan::Fetch { url }) => {
                Box::pin(self.cached(did, options, when, self.ask_web(did, &url))).await
            }
            Ok(ResolutionPlan::Log { url, options }) => {
                let fetch = self.ask_log(did, &url, &options, now);
                Box::pin(self.cached(did, &options, when, fetch)).await
            }
            Ok(ResolutionPlan::Resolver(did)) => match self.elsewhere(&did) {
                Some(elsewhere) => {
                    let fetch = elsewhere.ask(&self.net, &did, options);
                    Box::pin(self.cached(&did, options, when, fetch)).await
                }
                None => {
                    let failed = Resolution::failed(ResolutionError::MethodNotSupported);
                    (Arc::new(failed), now)
                }
            },
        }
    }

    /// As [`Self::resolve`], with the registry's newest checkpoint if a registry in this process resolves the DID. If
    /// another registry resolves it, the proof tells as of when the result holds.
    pub async fn resolve_as_of(
        &self,
        did: &Did,
        options: &Options,
        now: UnixTime,
    ) -> Arc<Resolution> {
        let registry = self.registry.as_ref();
        // The checkpoint is read first, so that the resolution is at least as new.
        let is_registered = |_: &&Arc<dyn RegistryClient>| {
            let plan = METHODS.plan(did, options);
            matches!(plan, Ok(ResolutionPlan::Registry { .. }))
        };
        let as_of = match registry.filter(is_registered) {
            Some(registry) => registry.as_of().await,
            None => None,
        };
        let (mut resolution, _) = self.resolve(did, options, now).await;
        if as_of.is_some() && resolution.metadata.as_of.is_none() {
            Arc::make_mut(&mut resolution).metadata.as_of = as_of;
        }
        resolution
    }

    /// The DID-linked resource that a DID URL names, from the resolver of its method.
    ///
    /// # Errors
    /// The error of a malformed or unsupported URL, the resolver's error, `InternalError` if there is no answer.
    pub async fn linked(
        &self,
        url: &DidUrl,
        wanted: &WantedResource,
        now: UnixTime,
    ) -> Result<Linked, ResolutionError> {
        let Some(elsewhere) = self.elsewhere(&url.did) else {
            return Err(ResolutionError::MethodNotSupported);
        };
        let key = url.to_string();
        let fetch = Box::pin(async {
            let linked = elsewhere.linked(&self.net, &url.did, wanted).await?;
            Ok(match linked {
                Ok(_) => Fresh::new(linked),
                Err(_) => Fresh::negative(linked),
            })
        });
        let fetched = self.linked.get(&key, now, fetch);
        match fetched.await {
            Ok((linked, _)) => (*linked).clone(),
            Err(_) => Err(ResolutionError::InternalError),
        }
    }

    /// The resolution as evidence for a verification. What was fetched at `outdated` or before is fetched again.
    pub async fn evidence(&self, did: &Did, when: Recency) -> Fetched<Arc<Resolution>> {
        let options = Options::default();
        let (resolution, at) = self.resolved(did, &options, when).await;
        let said = resolution.metadata.reason.as_deref();
        let said = said.map(|said| Reason::read(said).to_string());
        let value = match &resolution.metadata.error {
            // A failed fetch is not evidence. A DID that is missing or deactivated is.
            Some(ResolutionError::InternalError) => Err(Unavailable {
                reason: match resolution.metadata.inside.as_ref().or(said.as_ref()) {
                    Some(reason) => format!("{did} could not be resolved: {reason}"),
                    None => format!("{did} could not be resolved"),
                },
            }),
            _ => Ok(resolution),
        };
        Fetched { value, at }
    }

    /// Whether resolving a DID needs a call to another host, which the DID or a resolver of its method names.
    pub fn asks_others(&self, did: &Did, now: UnixTime) -> bool {
        let options = Options::default();
        let elsewhere = matches!(
            METHODS.plan(did, &options),
            Ok(ResolutionPlan::Fetch { .. }
                | ResolutionPlan::Log { .. }
                | ResolutionPlan::Resolver(_))
        );
        elsewhere && self.cache.at_hand(&cached_at(did, &options), now).is_none()
    }

    /// Drops what is cached of the present state of a DID, because it was changed here.
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
    /// The resolver for a DID of a method that is not resolved here.
    fn elsewhere(&self, did: &Did) -> Option<&Elsewhere> {
        let mut elsewhere = self.elsewhere.iter();
        elsewhere.find(|resolver| resolver.is_for(did.method()))
    }

    /// The present answer for a DID that is resolved elsewhere, not from the cache; an error if there is no answer.
    pub async fn said_now(&self, did: &Did) -> Result<Resolution, NetError> {
        let unasked = NetError::Setup("no resolver is configured for this method".to_owned());
        let elsewhere = self.elsewhere(did).ok_or(unasked)?;
        self.forget(did);
        elsewhere.ask(&self.net, did, &Options::default()).await
    }

    async fn ask_registry(&self, did: &Did, options: &Options) -> Resolution {
        match &self.registry {
            Some(registry) => registry.resolve(did, options).await,
            None => Resolution::failed(ResolutionError::MethodNotSupported),
        }
    }

    /// What the registry has of a DID that it names otherwise.
    async fn anchored(&self, did: &Did, registered: &Did, found: Resolution) -> Resolution {
        if found.metadata.error.is_some() {
            return found;
        }
        let first = Options {
            version_id: Some("1".to_owned()),
            ..Options::default()
        };
        let first = self.ask_registry(registered, &first).await;
        let as_of = found.metadata.as_of;
        let mut anchored = METHODS.anchored(did, &first, found);
        anchored.metadata.as_of = as_of;
        anchored
    }

    async fn cached(
        &self,
        did: &Did,
        options: &Options,
        Recency { now, outdated }: Recency,
        fetch: impl Future<Output = Result<Resolution, NetError>>,
    ) -> (Arc<Resolution>, UnixTime) {
        let key = cached_at(did, options);
        let fetched = self.cache.get_newer(&key, now, outdated, async {
            let resolution = fetch.await?;
            // A missing or deactivated document may be there (again) sooner than a document changes.
            let at_most = resolution.document_metadata.ttl().unwrap_or(u64::MAX);
            Ok(match resolution.metadata.error {
                Some(_) => Fresh::negative(resolution),
                None => Fresh::new(resolution).at_most(at_most),
            })
        });
        fetched
            .await
            .unwrap_or_else(|error| (Arc::new(not_had(&error)), now))
    }

    async fn ask_web(&self, did: &Did, url: &Url) -> Result<Resolution, NetError> {
        let url = plain_if_own(&self.plain, url);
        let request = Request {
            accept: Some("application/did, application/json;q=0.9"),
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
        match self.net.get(&url, &request).await {
            Ok(response) if response.is_success() => Ok(METHODS.read(did, &response.body)),
            Ok(response) => match response.status {
                404 => Ok(Resolution::failed(ResolutionError::NotFound)),
                // This program's answer for a deactivated DID. The method says only "no longer there".
                410 => Ok(Resolution::deactivated(DocumentMetadata::default())),
                status => {
                    failed(&format!("status {status}"));
                    Err(NetError::Malformed("its status is not a success"))
                }
            },
            Err(error) => {
                failed(&error.to_string());
                Err(error)
            }
        }
    }
}

/// The resolution if another host gave no answer.
fn not_had(error: &NetError) -> Resolution {
    let said = error.public_reason();
    let mut unavailable = Resolution::unavailable(said, None);
    unavailable.metadata.inside = Some(error.to_string());
    unavailable
}

/// The memory it takes: its bytes and its metadata, which is JSON with many members.
fn weight_of_linked(linked: &Result<Linked, ResolutionError>) -> usize {
    linked.as_ref().map_or(0, |linked| {
        weight(&linked.resource.metadata).saturating_add(linked.content.len())
    })
}

/// The cache key of a resolution.
fn cached_at(did: &Did, options: &Options) -> String {
    format!(
        "{did} {:?} {:?} {:?} {:?}",
        options.version_id, options.version_time, options.version_number, options.accept
    )
}

#[cfg(test)]
mod tests {
    use selfsame_did::method::cheqd::resource::Resource;
    use selfsame_net::guard::GuardRefusal;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resource_that_is_kept_weighs_what_is_said_of_it_too() {
        let linked = |members: usize| {
            Ok(Linked {
                resource: Resource {
                    id: "9c64d7c5-9a44-4b8e-8e5d-8a2e4e4f0a11".to_owned(),
                    media_type: "application/json".to_owned(),
                    checksum: [0; 32],
                    metadata: json!({"x": vec![json!({ "a": 0 }); members]}),
                },
                content: vec![0; 1_000],
                trusted_resolver: "https://resolver.example".to_owned(),
            })
        };
        assert!((1_000..4_000).contains(&weight_of_linked(&linked(0))));
        // Twenty thousand small objects are 160 kB of JSON.
        assert!(weight_of_linked(&linked(20_000)) > 10_000_000);
        assert_eq!(weight_of_linked(&Err(ResolutionError::NotFound)), 0);
    }

    #[test]
    fn what_is_said_to_everybody_does_not_tell_what_names_and_addresses_there_are_within() {
        let met = [
            NetError::Refused(GuardRefusal::Address),
            NetError::Refused(GuardRefusal::LocalName),
            NetError::UnknownHost,
            NetError::Unconnected,
            NetError::Unreachable,
            NetError::TimedOut,
            NetError::Tls("no certificate for this name".to_owned()),
        ];
        let written = |error: &NetError| serde_json::to_value(not_had(error).metadata).unwrap();
        for error in &met {
            assert_eq!(written(error), written(&met[0]), "{error}");
            assert_eq!(not_had(error).metadata.inside, Some(error.to_string()));
        }
    }
}
