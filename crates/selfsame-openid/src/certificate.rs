//! The certificates of an organisation's issuer and verifier.

use selfsame_core::certificate::{Certificate, Section};
use selfsame_core::organisation::Organisation;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::{Chain, X509Error};
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use url::{Host, Url};

use crate::config::{
    ClientIdPrefix, IdentifyBy, IssuerConfig, RoleSet, RolesConfig, VerifierConfig,
};

/// The certificates that an organisation signs with.
#[derive(Default)]
pub(crate) struct Certificates {
    /// The issuer's, if its SD-JWT VCs are signed by certificate.
    pub issuer: Option<Certificate>,
    /// The verifier's, if it has one.
    pub verifier: Option<Certificate>,
}

impl Certificates {
    /// Reads the certificates from the settings. Moves the keys from the settings into the key store, sealed.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work; the store's.
    pub(crate) async fn open(
        config: &mut RolesConfig,
        wanted: RoleSet,
        organisation: &Organisation,
        keys: &Keys,
    ) -> Result<Self> {
        let opened = Self {
            issuer: match wanted.issuer {
                true => of_issuer(&config.issuer, organisation, keys).await?,
                false => None,
            },
            verifier: match wanted.verifier {
                true => of_verifier(&config.verifier, organisation, keys).await?,
                false => None,
            },
        };
        config.issuer.certificate_key = None;
        config.verifier.certificate_key = None;
        Ok(opened)
    }

    /// Warns the operator of certificates that this instance itself would not accept today; other parties may have
    /// other trust anchors.
    pub(crate) fn report(&self, anchors: &[Vec<u8>], now: UnixTime) {
        for certificate in self.issuer.iter().chain(&self.verifier) {
            let name = &certificate.name;
            let chain = Chain::parse(&certificate.signer.x5c);
            match chain.and_then(|chain| chain.verify(anchors, now)) {
                Ok(()) => {}
                Err(X509Error::Untrusted) => {
                    tracing::warn!(
                        name,
                        "the certificate does not chain to any of [trust] certificates"
                    );
                }
                Err(error) => tracing::warn!(name, %error, "the certificate is invalid"),
            }
        }
    }
}

/// The verifier's certificate, if it has one. It must be for the host of the origin: wallets send their answers there,
/// and require both names to be equal (OpenID4VP 1.0 §5.9.3).
///
/// # Errors
/// `BadRequest` for settings that cannot work; the store's.
async fn of_verifier(
    told: &VerifierConfig,
    organisation: &Organisation,
    keys: &Keys,
) -> Result<Option<Certificate>> {
    let section = Section {
        name: "verifier",
        chain: told.certificate.as_deref(),
        key: told.certificate_key.as_ref(),
        hsm_key: None,
    };
    let Some(pair) = section.read()? else {
        return match told.client_id_prefix {
            ClientIdPrefix::X509SanDns => {
                Err(section.lacking("client_id_prefix = \"x509_san_dns\""))
            }
            ClientIdPrefix::X509Hash => Err(section.lacking("client_id_prefix = \"x509_hash\"")),
            _ => Ok(None),
        };
    };
    let host = organisation.base.domain();
    let Some(name) = host.filter(|host| pair.chain.has_dns_name(host)) else {
        return Err(Error::bad_request("certificate-of-other-host").with("section", section.name));
    };
    let kept = pair.keep(keys, &organisation.verifier, name.to_owned());
    kept.await.map(Some)
}

/// The issuer's certificate, if its SD-JWT VCs are signed by certificate. It must name the issuer in a subject
/// alternative name: by its identifier as a URI, or by the DNS name of its https origin (SD-JWT VC §2.5).
///
/// # Errors
/// `BadRequest` for settings that cannot work; the store's.
async fn of_issuer(
    told: &IssuerConfig,
    organisation: &Organisation,
    keys: &Keys,
) -> Result<Option<Certificate>> {
    let section = Section {
        name: "issuer",
        chain: told.certificate.as_deref(),
        key: told.certificate_key.as_ref(),
        hsm_key: told.pkcs11_key.as_deref(),
    };
    if told.identify_by != IdentifyBy::X5c {
        return Ok(None);
    }
    let pair = section
        .read()?
        .ok_or_else(|| section.lacking("identify_by = \"x5c\""))?;
    let issuer = organisation.identifier.clone();
    if !names(&pair.chain, &issuer, &organisation.base) {
        return Err(Error::bad_request("certificate-of-other-issuer")
            .with("section", section.name)
            .with("issuer", &issuer));
    }
    let kept = pair.keep(keys, &organisation.issuer, issuer);
    kept.await.map(Some)
}

/// Whether the chain names the issuer, by the rule that verifiers apply.
fn names(chain: &Chain, issuer: &str, base: &Url) -> bool {
    let https = base.scheme() == "https";
    let by_host =
        matches!(base.host(), Some(Host::Domain(host)) if https && chain.has_dns_name(host));
    by_host || chain.has_uri(issuer)
}
