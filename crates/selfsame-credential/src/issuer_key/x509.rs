//! Keys from the certificate chain in a token's header (SD-JWT VC §2.5, `x5c`).

use selfsame_crypto::{
    PublicKey,
    encoding::base64url_encode,
    time::UnixTime,
    x509::{CertificateContents, Chain, X509Error},
};
use url::{Host, Url};

use super::{Claimed, Finding};

/// The end-entity certificate of a chain, with the chain that certifies it.
#[derive(Debug)]
pub(crate) struct Leaf {
    chain: Chain,
    key: PublicKey,
}

pub(super) fn find(claimed: &Claimed<'_>) -> Finding {
    let x5c = claimed.header.x5c.as_deref().unwrap_or_default();
    let chain = match Chain::parse(x5c) {
        Ok(chain) => chain,
        Err(X509Error::Version) => {
            return Finding::Refused(
                "the certificate is older than X.509 version 3 and has no alternative names",
            );
        }
        Err(_) => return Finding::Refused("the certificate chain can't be read"),
    };
    if claimed.certificates_alone && has_anchor(x5c, claimed.roots.anchors) {
        return Finding::Refused("x5c has a trust anchor, or a certificate that signed itself");
    }
    let key = chain.leaf_public_key().clone();
    let leaf = Leaf { chain, key };
    match claimed.id {
        Some(id) if !leaf.speaks_for(id) => {
            Finding::Refused("the certificate does not name the issuer")
        }
        _ => Finding::Chain(Box::new(leaf)),
    }
}

/// HAIP 1.0 §6.1.1: a header has no trust anchor, and no certificate that signed itself.
fn has_anchor(x5c: &[Vec<u8>], anchors: &[Vec<u8>]) -> bool {
    let signed_itself = |read: CertificateContents<'_>| read.issuer == read.subject;
    let signed_itself = |der: &Vec<u8>| CertificateContents::parse(der).is_none_or(signed_itself);
    x5c.iter()
        .any(|der| anchors.contains(der) || signed_itself(der))
}

impl Leaf {
    /// The certified key.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Whether the chain leads to one of these anchors at this time; otherwise the error.
    pub fn anchored(&self, anchors: &[Vec<u8>], now: UnixTime) -> Result<(), X509Error> {
        self.chain.verify(anchors, now)
    }

    /// Whether both are one certificate.
    pub fn is_same(&self, other: &Self) -> bool {
        self.chain.leaf_sha256() == other.chain.leaf_sha256()
    }

    /// Whether an entry of a trust list, `x509_hash:…` or `x509_san_dns:…`, names this certificate.
    pub fn is_named(&self, entry: &str) -> bool {
        if let Some(hash) = entry.strip_prefix("x509_hash:") {
            return hash == base64url_encode(&self.chain.leaf_sha256());
        }
        entry
            .strip_prefix("x509_san_dns:")
            .is_some_and(|name| self.chain.has_dns_name(name))
    }

    /// Whether the certificate names this issuer: by its URI, or by the DNS name of an https URL.
    fn speaks_for(&self, id: &str) -> bool {
        if self.chain.has_uri(id) {
            return true;
        }
        match Url::parse(id) {
            Ok(url) if url.scheme() == "https" => {
                matches!(url.host(), Some(Host::Domain(name)) if self.chain.has_dns_name(name))
            }
            _ => false,
        }
    }
}
