//! The metadata of an issuer, signed by it if the wallet wants that (OpenID4VCI 1.0 §12.2.3).

use selfsame_core::gather::Freshness;
use selfsame_credential::evidence::{Evidence, Need, Step};
use selfsame_crypto::x509::Chain;
use selfsame_did::{DidUrl, Relationship};
use selfsame_driver::{Error, Reason, Result};
use selfsame_haip::HaipRule;
use selfsame_haip::certified::is_chain;
use selfsame_holder::refusal;
use selfsame_net::Response;
use selfsame_openid4vc::wire::signed_metadata::{MEDIA_TYPE, SignedMetadata};
use selfsame_store::TenantId;
use url::{Host, Url};

use super::JSON;
use crate::Wallet;
use crate::config::WantedMetadata;
use crate::profile::unkept;

/// The signed metadata, or the others where an issuer has none.
const EITHER: &str = "application/jwt, application/json;q=0.5";

/// The metadata of an issuer as JSON.
pub(super) struct IssuerDocument {
    pub response: Response,
    pub body: Vec<u8>,
    pub content_type: Option<String>,
}

impl IssuerDocument {
    fn plain(response: Response) -> Self {
        Self {
            body: response.body.to_vec(),
            content_type: response.content_type.clone(),
            response,
        }
    }
}

impl Wallet {
    /// The metadata of the issuer with this identifier.
    ///
    /// # Errors
    /// If they can't be fetched; if they are signed by nobody who is trusted, and the wallet keeps a profile; if they are
    /// not signed, and must be.
    pub(super) async fn issuer_document(&self, url: &Url, issuer: &str) -> Result<IssuerDocument> {
        let what = || Reason::new("the-issuer-metadata");
        if self.signed_metadata == WantedMetadata::Off {
            return Ok(IssuerDocument::plain(self.document(url, what()).await?));
        }
        let response = self.document_as(url, EITHER, what()).await?;
        let kind = response.content_type.as_deref().unwrap_or_default();
        let is_signed = kind.split(';').next().unwrap_or_default().trim() == MEDIA_TYPE;
        let is_needed = self.signed_metadata == WantedMetadata::Required;
        let refused = match is_signed {
            false if is_needed => Error::upstream("metadata-unsigned").with("issuer", issuer),
            false => return Ok(IssuerDocument::plain(response)),
            true => match self.verified(&response.body, issuer).await {
                Ok(body) => {
                    return Ok(IssuerDocument {
                        response,
                        body,
                        content_type: Some(JSON.to_owned()),
                    });
                }
                Err(refused) => refused,
            },
        };
        if is_needed || self.profile.is_some() {
            return Err(refused);
        }
        // The signature is not to be trusted, so it says nothing: what counts is what TLS vouches for.
        tracing::warn!(issuer, reason = %refused, "signed metadata are not used");
        Ok(IssuerDocument::plain(self.document(url, what()).await?))
    }

    /// What an issuer signed, as JSON.
    async fn verified(&self, body: &[u8], issuer: &str) -> Result<Vec<u8>> {
        let now = self.shared.clock.now();
        let signed = SignedMetadata::read(body, issuer, now).map_err(refusal)?;
        let is_trusted = match signed.x5c() {
            Some(x5c) => self.certifies(&signed, x5c, issuer),
            // HAIP 1.0 §4.1: keys are found by certificates.
            None if self.profile.is_some() => return Err(unkept(HaipRule::METADATA_CHAIN)),
            None => self.is_by_trusted_did(&signed).await?,
        };
        match is_trusted {
            true => Ok(signed.into_document()),
            false if self.profile.is_some() => Err(unkept(HaipRule::METADATA_CHAIN)),
            false => Err(Error::upstream("metadata-signer-untrusted").with("issuer", issuer)),
        }
    }

    /// Whether certificates of an authority that is trusted name the issuer, and their key signed.
    fn certifies(&self, signed: &SignedMetadata, x5c: &[Vec<u8>], issuer: &str) -> bool {
        let trusted = self.shared.trust.now();
        let (anchors, now) = (&trusted.anchors, self.shared.clock.now());
        let Ok(chain) = Chain::parse(x5c) else {
            return false;
        };
        let is_trusted = is_chain(x5c, anchors) && chain.verify(anchors, now).is_ok();
        is_trusted && names(&chain, issuer) && signed.is_by(chain.leaf_public_key())
    }

    /// Whether a trusted DID signed.
    async fn is_by_trusted_did(&self, signed: &SignedMetadata) -> Result<bool> {
        let Some(Ok(kid)) = signed.kid().map(DidUrl::parse) else {
            return Ok(false);
        };
        if !self.trusts_issuer(kid.did.as_str()) {
            return Ok(false);
        }
        let freshness = Freshness { max_status_age: 0 };
        let signs = |evidence: &Evidence| {
            let Some(fetched) = evidence.did(&kid.did) else {
                return Ok(Step::Needs(vec![Need::Did(kid.did.clone())]));
            };
            let resolution = fetched.value.as_ref().ok();
            let document = resolution.and_then(|one| one.document_of(&kid.did).ok());
            let key = document.and_then(|one| one.key(&kid, Relationship::AssertionMethod).ok());
            Ok(Step::Done(key.is_some_and(|key| signed.is_by(&key))))
        };
        self.shared
            .run(&TenantId::instance(), freshness, signs)
            .await
    }
}

/// Whether certificates name an issuer: by its identifier as a URI, or by the host of its https address.
fn names(chain: &Chain, issuer: &str) -> bool {
    let url = Url::parse(issuer).ok();
    let host = url.as_ref().filter(|url| url.scheme() == "https");
    let by_host = match host.and_then(Url::host) {
        Some(Host::Domain(host)) => chain.has_dns_name(host),
        _ => false,
    };
    by_host || chain.has_uri(issuer)
}
