//! X.509 certificate chains (RFC 5280), as in `x5c` headers. rustls-webpki builds and verifies the paths.

mod constraints;
mod contents;
mod key_usage;
mod naming;

use std::{cell::Cell, time::Duration};

use rustls_pki_types::{CertificateDer, UnixTime as PkiTime};
use webpki::{
    EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, VerifiedPath,
    anchor_from_trusted_cert,
};

use crate::der;
use crate::error::KeyError;
use crate::hash::sha256;
use crate::public_key::PublicKey;
use crate::time::UnixTime;

pub use contents::{CertificateContents, CertificateExtension, extension};
pub use key_usage::may_sign_handshakes;
pub use naming::{SubjectNames, named};

/// The maximum number of certificates in a chain.
const MAX_LEN: usize = 8;
/// The maximum length of one certificate in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Why a chain was not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum X509Error {
    /// There are no certificates, too many of them, or one is too large.
    #[error("the certificate chain is empty or too large")]
    Size,
    /// A certificate is not X.509 in DER.
    #[error("a certificate is malformed")]
    Malformed,
    /// The first certificate is older than version 3 and so has no extensions and no names (RFC 5280 §4.1.2.1).
    #[error("the certificate is older than X.509 version 3 and has no alternative names")]
    Version,
    /// The key of the first certificate cannot be used.
    #[error("the key of the certificate cannot be used: {0}")]
    Key(KeyError),
    /// A configured trust anchor is not a certificate; the operator must act.
    #[error("a trust anchor is malformed")]
    Anchor,
    /// No path leads to a trust anchor, or a signature or constraint on it does not hold.
    #[error("the certificate does not lead to a trust anchor")]
    Untrusted,
    /// The first certificate is that of an authority, whose key may sign certificates only.
    #[error("the first certificate is that of an authority (CA:TRUE)")]
    Authority,
    /// The first certificate has a URI whose host an authority above it must not certify.
    #[error("a certificate names a host that its authority must not certify (name constraints)")]
    Constrained,
    /// A key was used in a way that its certificate does not permit.
    #[error("a certificate does not allow its key to sign this (key usage)")]
    KeyUsage,
    /// A certificate has expired.
    #[error("a certificate has expired")]
    Expired,
    /// A certificate is not valid yet.
    #[error("a certificate is not valid yet")]
    NotYetValid,
}

/// A certificate chain whose first certificate has been parsed and has a supported key.
#[derive(Clone, Debug)]
pub struct Chain {
    leaf: CertificateDer<'static>,
    others: Vec<CertificateDer<'static>>,
    leaf_public_key: PublicKey,
}

impl Chain {
    /// Parses certificates in DER, the signer's first (RFC 7515 §4.1.6).
    pub fn parse(x5c: &[Vec<u8>]) -> Result<Self, X509Error> {
        let (leaf, others) = x5c.split_first().ok_or(X509Error::Size)?;
        if x5c.len() > MAX_LEN || x5c.iter().any(|certificate| certificate.len() > MAX_BYTES) {
            return Err(X509Error::Size);
        }
        let leaf = CertificateDer::from(leaf.clone());
        let spki = EndEntityCert::try_from(&leaf)
            .map_err(|error| match error {
                webpki::Error::UnsupportedCertVersion => X509Error::Version,
                _ => X509Error::Malformed,
            })?
            .subject_public_key_info();
        let leaf_public_key = PublicKey::from_spki(&spki).map_err(X509Error::Key)?;
        let others = others.iter().cloned().map(CertificateDer::from).collect();
        Ok(Self {
            leaf,
            others,
            leaf_public_key,
        })
    }

    /// The key of the first certificate.
    pub fn leaf_public_key(&self) -> &PublicKey {
        &self.leaf_public_key
    }

    /// Verifies that the chain leads from the first certificate to one of `anchors` (DER) and is valid at `now` (RFC
    /// 5280 §6). If a certificate states key usages, they must permit what its key did. Constraints on DNS names also
    /// apply to the hosts of URIs, which is stricter than RFC 5280 §4.2.1.10. Any extended key usage is accepted:
    /// credential profiles define their own. Revocation is not checked.
    pub fn verify(&self, anchors: &[Vec<u8>], now: UnixTime) -> Result<(), X509Error> {
        self.path(anchors, now).map(|_| ())
    }

    /// The certificates (DER) of the path from the first to one of `anchors`, verified as in [`Chain::verify`]. Other
    /// certificates that were sent prove nothing and are left out.
    pub fn path(&self, anchors: &[Vec<u8>], now: UnixTime) -> Result<Vec<Vec<u8>>, X509Error> {
        let given: Vec<CertificateDer<'_>> = anchors
            .iter()
            .map(|anchor| CertificateDer::from(anchor.as_slice()))
            .collect();
        let anchors: Vec<_> = given
            .iter()
            .map(|anchor| anchor_from_trusted_cert(anchor).map_err(|_| X509Error::Anchor))
            .collect::<Result<_, _>>()?;
        let leaf = EndEntityCert::try_from(&self.leaf).map_err(|_| X509Error::Malformed)?;
        let now = PkiTime::since_unix_epoch(Duration::from_secs(now.0));
        // If one path is refused, another may lead to an anchor. So this is checked during path building.
        let refused = Cell::new(None);
        let rules = |path: &VerifiedPath<'_>| {
            let at = anchors.iter().position(|anchor| anchor == path.anchor());
            let anchor = at
                .and_then(|at| given.get(at))
                .map(|anchor| anchor.as_ref());
            let why = if !key_usage::allows(path) {
                X509Error::KeyUsage
            } else if !constraints::allow_uris(path, anchor) {
                X509Error::Constrained
            } else {
                return Ok(());
            };
            refused.set(Some(why));
            Err(webpki::Error::UnknownIssuer)
        };
        leaf.verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            &anchors,
            &self.others,
            now,
            AnyUsage,
            None,
            Some(&rules),
        )
        .map(|path| {
            let above = path.intermediate_certificates();
            let above = above.map(|certificate| certificate.der().to_vec());
            std::iter::once(self.leaf.to_vec()).chain(above).collect()
        })
        .map_err(|error| refused.get().unwrap_or_else(|| reason(&error)))
    }

    /// Whether the first certificate has exactly this host as a DNS subject alternative name. Wildcards do not match.
    pub fn has_dns_name(&self, host: &str) -> bool {
        let leaf = EndEntityCert::try_from(&self.leaf);
        leaf.is_ok_and(|leaf| {
            leaf.valid_dns_names()
                .any(|name| name.eq_ignore_ascii_case(host))
        })
    }

    /// The first DNS subject alternative name of the first certificate.
    pub fn dns_name(&self) -> Option<String> {
        let leaf = EndEntityCert::try_from(&self.leaf).ok()?;
        leaf.valid_dns_names().next().map(str::to_owned)
    }

    /// Whether the first certificate has exactly this URI as a subject alternative name.
    pub fn has_uri(&self, uri: &str) -> bool {
        let leaf = EndEntityCert::try_from(&self.leaf);
        leaf.is_ok_and(|leaf| leaf.valid_uri_names().any(|name| name == uri))
    }

    /// The SHA-256 digest of the first certificate.
    pub fn leaf_sha256(&self) -> [u8; 32] {
        sha256(&self.leaf)
    }
}

/// Whether this certificate (DER) can be a trust anchor.
pub fn is_anchor(certificate: &[u8]) -> bool {
    anchor_from_trusted_cert(&CertificateDer::from(certificate)).is_ok()
}

/// `notBefore` of this certificate (DER; RFC 5280 §4.1.2.5); `None` if it cannot be read.
pub fn not_before(certificate: &[u8]) -> Option<UnixTime> {
    time(validity(certificate)?).map(|(begin, _)| begin)
}

/// `notAfter` of this certificate (DER; RFC 5280 §4.1.2.5); `None` if it cannot be read.
pub fn not_after(certificate: &[u8]) -> Option<UnixTime> {
    let (_, rest) = time(validity(certificate)?)?;
    time(rest).map(|(end, _)| end)
}

/// The first end of the certificates of a chain (DER); `None` if the chain is empty, or one cannot be read.
pub fn chain_not_after<'a>(chain: impl IntoIterator<Item = &'a [u8]>) -> Option<UnixTime> {
    let ends: Option<Vec<UnixTime>> = chain.into_iter().map(not_after).collect();
    ends?.into_iter().min()
}

fn validity(certificate: &[u8]) -> Option<&[u8]> {
    taken_validity(certificate).map(|(validity, _)| validity)
}

fn taken_validity(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let (certificate, _) = der::take(certificate, der::SEQUENCE)?;
    let (mut rest, _) = der::take(certificate, der::SEQUENCE)?;
    // The version comes before the serial number; it is absent in version 1.
    if let Some((_, after)) = der::take(rest, VERSION) {
        rest = after;
    }
    // Serial number, signature algorithm, issuer.
    for tag in [der::INTEGER, der::SEQUENCE, der::SEQUENCE] {
        (_, rest) = der::take(rest, tag)?;
    }
    der::take(rest, der::SEQUENCE)
}

/// The part of a certificate after the validity: the subject, its key, the extensions.
fn after_validity(certificate: &[u8]) -> Option<&[u8]> {
    taken_validity(certificate).map(|(_, rest)| rest)
}

/// `thisUpdate` of this certificate revocation list (DER; RFC 5280 §5.1.2.4); `None` if it cannot be read.
pub fn this_update(list: &[u8]) -> Option<UnixTime> {
    let (list, _) = der::take(list, der::SEQUENCE)?;
    let (mut rest, _) = der::take(list, der::SEQUENCE)?;
    if let Some((_, after)) = der::take(rest, der::INTEGER) {
        rest = after;
    }
    // Signature algorithm, issuer.
    for tag in [der::SEQUENCE, der::SEQUENCE] {
        (_, rest) = der::take(rest, tag)?;
    }
    time(rest).map(|(issued, _)| issued)
}

const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Takes a Time, in whole seconds of UTC, and returns it with the rest of the input.
fn time(input: &[u8]) -> Option<(UnixTime, &[u8])> {
    let (text, rest) = match der::take(input, UTC_TIME) {
        Some((short, rest)) => {
            let short = std::str::from_utf8(short).ok()?;
            // Two digits mean a year from 1950 to 2049 (RFC 5280 §4.1.2.5.1).
            let century = match short.get(..2)?.parse::<u8>().ok()? {
                0..=49 => "20",
                _ => "19",
            };
            (format!("{century}{short}"), rest)
        }
        None => {
            let (long, rest) = der::take(input, GENERALIZED_TIME)?;
            (std::str::from_utf8(long).ok()?.to_owned(), rest)
        }
    };
    let part = |from: usize, to: usize| text.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, rest_of_it) = (part(8, 10)?, part(10, 12)?, text.get(12..)?);
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{rest_of_it}");
    Some((UnixTime::parse_rfc3339(&text)?, rest))
}

struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, mut iter: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        iter.try_for_each(|usage| usage.map(|_| ()))
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else is wrong with a path, it is not trusted"
)]
fn reason(error: &webpki::Error) -> X509Error {
    match error {
        webpki::Error::CertExpired { .. } => X509Error::Expired,
        webpki::Error::CertNotValidYet { .. } => X509Error::NotYetValid,
        webpki::Error::CaUsedAsEndEntity => X509Error::Authority,
        webpki::Error::BadDer => X509Error::Malformed,
        _ => X509Error::Untrusted,
    }
}

#[cfg(test)]
mod tests;
