//! The metadata and the keys of the other provider, fetched when needed and kept for a while.

use std::sync::{Arc, Mutex, PoisonError};

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jws::Compact;
use selfsame_crypto::{Jwk, PublicKey};
use selfsame_net::{Net, NetError, Request};
use selfsame_sign_in::identity::{IdentityFault, IdentityFaultKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::{UpstreamAnswer, refused};

/// Keys of one provider.
const KEYS_MAX: usize = 32;

/// The metadata that we need (OpenID Connect Discovery §3).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ProviderMetadata {
    pub issuer: String,
    pub authorization_endpoint: Url,
    pub token_endpoint: Url,
    pub userinfo_endpoint: Option<Url>,
    pub end_session_endpoint: Option<Url>,
    jwks_uri: Url,
}

/// A key of the provider.
#[derive(Clone, Debug)]
pub(super) struct ProviderKey {
    pub jwk: Jwk,
    pub key: PublicKey,
}

/// What was fetched. The metadata are those of the start of the process; keys are fetched anew for a name that is not
/// among them, so a key that the provider has replaced is noticed.
#[derive(Default)]
pub(super) struct MetadataCache {
    metadata: Mutex<Option<Arc<ProviderMetadata>>>,
    keys: Mutex<Arc<Vec<ProviderKey>>>,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
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
        if !is_issuer(&fetched.issuer, issuer) {
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

    /// The keys among which that of this ID token is.
    pub(super) async fn keys(
        &self,
        net: &Net,
        metadata: &ProviderMetadata,
        id_token: &str,
    ) -> UpstreamAnswer<Arc<Vec<ProviderKey>>> {
        let signed = Compact::parse(id_token).map_err(|_| refused("the ID token is no JWS"))?;
        let known = self.known();
        let is_it =
            |key: &ProviderKey| signed.header.kid.is_some() && key.jwk.kid == signed.header.kid;
        if known.iter().any(is_it) {
            return Ok(known);
        }
        let fetched: KeySet = fetch(net, &metadata.jwks_uri).await?;
        let keys = fetched.keys.iter().take(KEYS_MAX).filter_map(key);
        let keys = Arc::new(keys.collect::<Vec<_>>());
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = keys.clone();
        Ok(keys)
    }

    fn known(&self) -> Arc<Vec<ProviderKey>> {
        let keys = self.keys.lock();
        keys.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A key that signatures can be verified with; others are passed over (RFC 7517 §5).
fn key(value: &Value) -> Option<ProviderKey> {
    let jwk = Jwk::from_value(value).ok()?;
    let key = PublicKey::from_jwk(&jwk).ok()?;
    Some(ProviderKey { jwk, key })
}

/// Whether a text is this issuer's identifier. A URL without a path may be written with and without its slash.
pub(super) fn is_issuer(named: &str, issuer: &Url) -> bool {
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
