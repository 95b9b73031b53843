//! X.509: which chains are accepted (RFC 5280, by rustls-webpki), and signatures by what they certify.

use std::fmt;
use std::time::Duration;

use rustls_pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime as PkiTime};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::not_after;
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use super::claim::Side;
use crate::alert::{Alert, Refusal};
use crate::codec::{CertificateEntry, Proof};
use crate::error::ConfigError;
use crate::provider::{algorithm, certificate_algorithms};
use crate::resumption::Digest;

/// Which certificates are accepted.
#[derive(Clone)]
pub struct CertificatePolicy {
    anchors: Vec<TrustAnchor<'static>>,
    name: Option<ServerName<'static>>,
}

impl fmt::Debug for CertificatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificatePolicy")
            .field("anchors", &self.anchors.len())
            .field("name", &self.name)
            .finish()
    }
}

impl CertificatePolicy {
    /// Accepts the server of this name (DNS or IP address) with a chain to one of `anchors` (DER).
    pub fn for_server(name: &str, anchors: &[Vec<u8>]) -> Result<Self, ConfigError> {
        let name = ServerName::try_from(name.to_owned()).map_err(|_| ConfigError::Name)?;
        Ok(Self {
            anchors: read(anchors)?,
            name: Some(name),
        })
    }

    /// Accepts clients with a chain to one of `anchors` (DER), whatever their names.
    pub fn for_clients(anchors: &[Vec<u8>]) -> Result<Self, ConfigError> {
        Ok(Self {
            anchors: read(anchors)?,
            name: None,
        })
    }

    pub(crate) fn digest(&self, into: &mut Digest) {
        let Self { anchors, name } = self;
        into.list(anchors.iter(), |into, anchor| {
            into.part(&anchor.subject);
            into.part(&anchor.subject_public_key_info);
            into.part(anchor.name_constraints.as_deref().unwrap_or_default());
        });
        into.option(name.as_ref(), |into, name| {
            into.part(name.to_str().as_bytes());
        });
    }

    pub(crate) fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// The name for the extension `server_name`, which addresses do not have (RFC 6066 §3).
    pub(crate) fn dns_name(&self) -> Option<&str> {
        match &self.name {
            Some(ServerName::DnsName(name)) => Some(name.as_ref()),
            _ => None,
        }
    }

    /// Whether the chain is accepted now; gives its first certificate.
    pub(super) fn judge(
        &self,
        entries: &[CertificateEntry],
        from: Side,
        now: UnixTime,
    ) -> Result<CertificateDer<'static>, Refusal> {
        let mut chain = entries
            .iter()
            .map(|entry| CertificateDer::from(entry.data.clone()));
        let leaf = chain
            .next()
            .ok_or(Refusal::decode("a chain without a certificate"))?;
        let others: Vec<_> = chain.collect();
        let usage = match from {
            Side::Server => KeyUsage::server_auth(),
            Side::Client => KeyUsage::client_auth(),
        };
        let now = PkiTime::since_unix_epoch(Duration::from_secs(now.0));
        let certificate = EndEntityCert::try_from(&leaf).map_err(refusal)?;
        certificate
            .verify_for_usage(
                certificate_algorithms(),
                &self.anchors,
                &others,
                now,
                usage,
                None,
                None,
            )
            .map_err(refusal)?;
        if let Some(name) = &self.name {
            certificate
                .verify_is_valid_for_subject_name(name)
                .map_err(refusal)?;
        }
        Ok(leaf)
    }
}

/// When the first of these certificates (DER) to end does; long ago if that cannot be read.
pub(super) fn end(chain: &[Vec<u8>]) -> Option<UnixTime> {
    let ends = chain.iter().map(|certificate| not_after(certificate));
    ends.map(|end| end.unwrap_or_default()).min()
}

/// Whether the certificate's key made the proof over `message`.
pub(super) fn verify(
    certificate: &CertificateDer<'_>,
    proof: &Proof,
    message: &[u8],
) -> Result<(), Refusal> {
    let algorithm = algorithm(proof.scheme)
        .ok_or(Refusal::illegal("a signature scheme that was not offered"))?;
    let certificate = EndEntityCert::try_from(certificate).map_err(refusal)?;
    certificate
        .verify_signature(algorithm, message, &proof.signature)
        .map_err(|_| Refusal::new(Alert::DecryptError, "CertificateVerify does not hold"))
}

fn read(anchors: &[Vec<u8>]) -> Result<Vec<TrustAnchor<'static>>, ConfigError> {
    if anchors.is_empty() {
        return Err(ConfigError::Policy);
    }
    let read = |der: &Vec<u8>| {
        let certificate = CertificateDer::from(der.as_slice());
        let anchor = anchor_from_trusted_cert(&certificate);
        anchor
            .map(|anchor| anchor.to_owned())
            .map_err(|_| ConfigError::Certificate)
    };
    anchors.iter().map(read).collect()
}

fn refusal(error: webpki::Error) -> Refusal {
    use webpki::Error;
    match error {
        Error::CertExpired { .. } | Error::CertNotValidYet { .. } => Refusal::new(
            Alert::CertificateExpired,
            "a certificate is out of its time",
        ),
        Error::UnknownIssuer => {
            Refusal::new(Alert::UnknownCa, "the chain leads to no trust anchor")
        }
        Error::CertRevoked => Refusal::new(Alert::CertificateRevoked, "a certificate is revoked"),
        _ => Refusal::new(Alert::BadCertificate, "a certificate is not acceptable"),
    }
}
