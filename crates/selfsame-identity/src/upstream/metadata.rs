//! The metadata and the keys of the other provider, fetched when needed and kept for a while.

use std::sync::{Arc, Mutex, PoisonError};

use selfsame_crypto::json::{self, Limits};
use selfsame_net::{Net, NetError, Request};
use selfsame_oauth::jwt::{Jwt, VerificationKeys};
use selfsame_oauth::metadata::ServerMetadata;
use selfsame_sign_in::identity::{IdentityFault, IdentityFaultKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::UpstreamAnswer;

/// The metadata that we need (OpenID Connect Discovery §3).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ProviderMetadata {
    /// What every authorization server says of itself.
    #[serde(flatten)]
    pub server: ServerMetadata,
    pub userinfo_endpoint: Option<Url>,
    pub end_session_endpoint: Option<Url>,
    jwks_uri: Url,
    /// What ID tokens are signed with; empty if the provider does not say it.
    #[serde(default)]
    pub id_token_signing_alg_values_supported: Vec<String>,
    /// What userinfo is signed with; empty if the provider does not say it.
    #[serde(default)]
    pub userinfo_signing_alg_values_supported: Vec<String>,
}

impl ProviderMetadata {
    /// Where browsers are sent.
    pub(super) fn authorization_endpoint(&self) -> UpstreamAnswer<&Url> {
        let endpoint = self.server.authorization_endpoint.as_ref();
        endpoint.ok_or_else(|| against("the metadata have no authorization endpoint"))
    }

    /// Where codes are redeemed.
    pub(super) fn token_endpoint(&self) -> UpstreamAnswer<&Url> {
        let endpoint = self.server.token_endpoint.as_ref();
        endpoint.ok_or_else(|| against("the metadata have no token endpoint"))
    }
}

/// What was fetched. The metadata are those of the start of the process; keys are fetched anew for a name that is not
/// among them, so a key that the provider has replaced is noticed.
#[derive(Default)]
pub(super) struct MetadataCache {
    metadata: Mutex<Option<Arc<ProviderMetadata>>>,
    keys: Mutex<Arc<VerificationKeys>>,
}

impl MetadataCache {
    /// The metadata of an issuer.
    pub(super) async fn get(
        &self,
        net: &Net,
        issuer: &Url,
    ) -> UpstreamAnswer<Arc<ProviderMetadata>> {
        if let Some(known) = self.metadata() {
            return Ok(known);
        }
        let base = issuer.as_str().trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let url: Url = url
            .parse()
            .map_err(|_| against("the issuer is no address"))?;
        let fetched: ProviderMetadata = fetch(net, &url).await?;
        // OpenID Connect Discovery §4.3.
        if !is_issuer(&fetched.server.issuer, issuer) {
            return Err(against("the metadata are of another issuer"));
        }
        let fetched = Arc::new(fetched);
        *self.metadata.lock().unwrap_or_else(PoisonError::into_inner) = Some(fetched.clone());
        Ok(fetched)
    }

    fn metadata(&self) -> Option<Arc<ProviderMetadata>> {
        let known = self.metadata.lock();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The keys among which the one of this token is.
    pub(super) async fn keys(
        &self,
        net: &Net,
        metadata: &ProviderMetadata,
        token: &Jwt,
    ) -> UpstreamAnswer<Arc<VerificationKeys>> {
        let known = self.known();
        let named = &token.header().kid;
        if named.is_some() && known.keys().iter().any(|key| key.kid == *named) {
            return Ok(known);
        }
        let fetched: VerificationKeys = fetch(net, &metadata.jwks_uri).await?;
        let keys = Arc::new(fetched);
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = keys.clone();
        Ok(keys)
    }

    fn known(&self) -> Arc<VerificationKeys> {
        let keys = self.keys.lock();
        keys.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether metadata are of the issuer that the operator named, whose URL without a path may be written with and without
/// its slash. From then on the name in the metadata is the issuer's, character by character.
fn is_issuer(named: &str, issuer: &Url) -> bool {
    let bare = |text: &str| text.trim_end_matches('/').to_owned();
    bare(named) == bare(issuer.as_str())
}

async fn fetch<T: DeserializeOwned>(net: &Net, url: &Url) -> UpstreamAnswer<T> {
    let fetched = net.get(url, &Request::default()).await;
    let answer = fetched.map_err(|error| away(&error))?;
    if !answer.is_success() {
        return Err(against("a document is not there"));
    }
    let read = json::parse_as(&answer.body, &Limits::default());
    read.map_err(|_| against("a document is malformed"))
}

pub(super) fn away(error: &NetError) -> IdentityFault {
    tracing::warn!(%error, "the other OpenID provider does not answer");
    IdentityFault::new(match error {
        NetError::TimedOut => IdentityFaultKind::TooLate,
        _ => IdentityFaultKind::Unavailable,
    })
}

fn against(what: &'static str) -> IdentityFault {
    tracing::warn!(
        what,
        "the other OpenID provider answers against its specification"
    );
    IdentityFault::new(IdentityFaultKind::Unavailable)
}
