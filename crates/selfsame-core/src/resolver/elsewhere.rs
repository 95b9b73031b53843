//! Resolvers elsewhere, whose answers are trusted: how they are asked, and which answers are accepted.

use std::time::Duration;

use selfsame_crypto::hash::sha256;
use selfsame_did::method::cheqd::{
    self,
    resource::{self, Resource, WantedResource},
};
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_net::{CallLimits, Net, NetError, Request, Response};
use url::Url;

use crate::config::ResolverConfig;

/// Maximum size of an answer, in bytes: cheqd's blocks have at most 200 kB, to which the list of linked resources is
/// added.
const MAX_ANSWER: usize = 1 << 20;
/// Maximum size of a DID-linked resource, in bytes.
const MAX_RESOURCE: usize = 256 * 1024;
/// The envelope's media type by its older name, which cheqd's resolver uses.
const CHEQD_ACCEPT: &str = "application/ld+json;profile=\"https://w3id.org/did-resolution\"";
/// Both names of the envelope's media type, the newer one first.
const UNIVERSAL_ACCEPT: &str = "application/did-resolution, \
     application/ld+json;profile=\"https://w3id.org/did-resolution\";q=0.9";

/// A DID-linked resource and its bytes, which have the checksum that its metadata states.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// Its metadata.
    pub resource: Resource,
    /// Its bytes.
    pub content: Vec<u8>,
    /// The resolver that was trusted for both.
    pub trusted_resolver: String,
}

/// A resolver at a configured address.
pub(super) struct Elsewhere {
    /// The only method that it is for; `None` for a Universal Resolver, which is for those that are configured.
    method: Option<&'static str>,
    config: ResolverConfig,
    base: Url,
    accept: &'static str,
    limits: CallLimits,
}

impl Elsewhere {
    /// The configured resolvers. A method with a resolver of its own is resolved only there, so those come first.
    pub(super) fn configured(config: &ResolverConfig) -> Vec<Self> {
        let cheqd = config.cheqd.iter().map(|base| Self {
            method: Some(cheqd::METHOD.name),
            ..Self::new(base, CHEQD_ACCEPT, config)
        });
        let universal = config.universal.iter();
        let universal = universal.map(|base| Self::new(base, UNIVERSAL_ACCEPT, config));
        cheqd.chain(universal).collect()
    }

    /// Whether it is asked for DIDs of this method.
    pub(super) fn is_for(&self, method: &str) -> bool {
        match self.method {
            Some(own) => own == method,
            None => self.config.asks_universal(method),
        }
    }

    fn new(base: &Url, accept: &'static str, config: &ResolverConfig) -> Self {
        Self {
            method: None,
            config: config.clone(),
            base: base.clone(),
            accept,
            limits: CallLimits {
                max_body: MAX_ANSWER,
                total_timeout: Duration::from_secs(config.timeout),
            },
        }
    }

    /// The resolver's answer for a DID. An error means that it could not be asked or gave no valid answer.
    pub(super) async fn ask(
        &self,
        net: &Net,
        did: &Did,
        options: &Options,
    ) -> Result<Resolution, NetError> {
        let url = self
            .address(&[did.as_str()], options)
            .ok_or(NetError::BadCall(
                "the resolver's address can't have a path",
            ))?;
        let response = self.get(net, &url, self.accept, self.limits).await?;
        if is_answer(&response) {
            let origin = self.origin();
            return Ok(Resolution::told(&response.body, did, options, &origin));
        }
        let status = response.status;
        tracing::warn!(status, host = url.host_str(), "a resolver did not answer");
        Err(NetError::Malformed("it is not a resolution result"))
    }

    /// A DID-linked resource: first its metadata, then the bytes, which must match it.
    pub(super) async fn linked(
        &self,
        net: &Net,
        did: &Did,
        wanted: &WantedResource,
    ) -> Result<Result<Linked, ResolutionError>, NetError> {
        let bad_call = NetError::BadCall("the resolver's address can't have a path");
        let plain = Options::default();
        let url = match wanted {
            WantedResource::Id(id) => {
                self.address(&[did.as_str(), "resources", id, "metadata"], &plain)
            }
            WantedResource::Query(pairs) => self.address(&[did.as_str()], &plain).map(|mut url| {
                url.query_pairs_mut()
                    .extend_pairs(pairs)
                    .append_pair("resourceMetadata", "true");
                url
            }),
        };
        let url = url.ok_or(bad_call.clone())?;
        let said = self.get(net, &url, self.accept, self.limits).await?;
        let resource = match resource::read(&said.body, wanted) {
            Ok(resource) if said.is_success() => resource,
            // The answer of a server that is not a resolver says nothing about a resource.
            Ok(_) => return Err(NetError::Malformed("it is not a resolution result")),
            Err(error) if said.is_success() || is_named(&said) => return Ok(Err(error)),
            Err(_) => return Err(NetError::Malformed("it is not a resolution result")),
        };
        let url = self.address(&[did.as_str(), "resources", &resource.id], &plain);
        let limits = CallLimits {
            max_body: MAX_RESOURCE,
            ..self.limits
        };
        let content = self.get(net, &url.ok_or(bad_call)?, "*/*", limits).await?;
        if !content.is_success() {
            return Err(NetError::Malformed("it is not a resource"));
        }
        if sha256(&content.body) != resource.checksum {
            tracing::warn!(did = %did, "a resource has another checksum than its metadata states");
            return Ok(Err(ResolutionError::InvalidDidDocument));
        }
        Ok(Ok(Linked {
            resource,
            content: content.body.to_vec(),
            trusted_resolver: self.origin(),
        }))
    }

    async fn get(
        &self,
        net: &Net,
        url: &Url,
        accept: &str,
        limits: CallLimits,
    ) -> Result<Response, NetError> {
        let request = Request {
            accept: Some(accept),
            limits: Some(limits),
            // The trusted resolver must answer itself.
            redirects: 0,
            ..Request::default()
        };
        net.get(url, &request).await.inspect_err(|error| {
            tracing::warn!(%error, host = url.host_str(), "a resolver could not be reached");
        })
    }

    fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// The URL for `path` below a Universal Resolver's HTTP interface.
    fn address(&self, path: &[&str], options: &Options) -> Option<Url> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .ok()?
            .pop_if_empty()
            .extend(["1.0", "identifiers"])
            .extend(path);
        if let Some(version) = &options.version_id {
            url.query_pairs_mut().append_pair("versionId", version);
        }
        if let Some(time) = options.version_time {
            url.query_pairs_mut()
                .append_pair("versionTime", &time.rfc3339());
        }
        Some(url)
    }
}

/// Whether a response is from a resolver: a success, the deactivation of a DID (410), or a result that names the error.
/// The 404 of a server without such an address says nothing about a DID.
fn is_answer(response: &Response) -> bool {
    response.is_success() || response.status == 410 || Resolution::is_failure(&response.body)
}

/// Whether a response is a resolver's own report of a failed dereferencing.
fn is_named(response: &Response) -> bool {
    let own =
        selfsame_crypto::json::parse(&response.body, &selfsame_crypto::json::Limits::default());
    own.is_ok_and(|own| own.pointer("/dereferencingMetadata/error").is_some())
        || Resolution::is_failure(&response.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base: &str, options: &Options) -> String {
        let config = ResolverConfig {
            cheqd: Some(base.parse().unwrap()),
            ..ResolverConfig::default()
        };
        let did = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
        let elsewhere = &Elsewhere::configured(&config)[0];
        elsewhere.address(&[did], options).unwrap().to_string()
    }

    #[test]
    fn the_address_is_below_the_base_and_carries_the_version() {
        let did = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
        for base in ["https://resolver.example", "https://resolver.example/"] {
            assert_eq!(
                address(base, &Options::default()),
                format!("https://resolver.example/1.0/identifiers/{did}")
            );
        }
        let at = Options {
            version_id: Some("a&b".to_owned()),
            ..Options::default()
        };
        assert_eq!(
            address("https://example.org/cheqd/", &at),
            format!("https://example.org/cheqd/1.0/identifiers/{did}?versionId=a%26b")
        );
        let then = Options {
            version_time: Some(selfsame_crypto::time::UnixTime(0)),
            ..Options::default()
        };
        assert!(
            address("https://example.org", &then)
                .ends_with("?versionTime=1970-01-01T00%3A00%3A00Z")
        );
    }
}
