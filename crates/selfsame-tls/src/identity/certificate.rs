//! X.509: which chains are accepted (RFC 5280, by rustls-webpki), and signatures by certified keys.

use std::fmt;
use std::time::Duration;

use rustls_pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime as PkiTime};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::{may_sign_handshakes, not_after, this_update};
use webpki::{
    CertRevocationList, EndEntityCert, ExpirationPolicy, KeyUsage, RevocationOptions,
    RevocationOptionsBuilder, UnknownStatusPolicy, anchor_from_trusted_cert,
};

use super::peer::{Again, Side};
use crate::alert::{Alert, Refusal};
use crate::codec::CertificateVerify;
use crate::digest::Digest;
use crate::error::ConfigError;
use crate::evidence::{AtHand, Crl, Found, HandshakeEvidence, HandshakeNeed};
use crate::provider::{algorithm, certificate_algorithms};

/// Which certificates are accepted.
#[derive(Clone)]
pub struct CertificatePolicy {
    anchors: Vec<TrustAnchor<'static>>,
    name: Option<ServerName<'static>>,
    crls: Option<CrlPolicy>,
}

/// Which certificate revocation lists are checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrlPolicy {
    /// The URIs of the revocation lists of all authorities, including those between trust anchor and peer. URIs in a
    /// certificate are not used: its owner must not decide what is fetched.
    pub uris: Vec<String>,
    /// Whether a chain is refused if a list of one of its authorities is missing, expired or too old. Otherwise, a
    /// certificate is refused only if it is listed.
    pub required: bool,
    /// Maximum age of a list in seconds since it was fetched.
    pub max_age: u64,
}

/// The time as of which something holds, and the time until which it does.
pub(super) type CertificateTimes = (UnixTime, UnixTime);

impl fmt::Debug for CertificatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificatePolicy")
            .field("anchors", &self.anchors.len())
            .field("name", &self.name)
            .field("crls", &self.crls)
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
            crls: None,
        })
    }

    /// Accepts clients with a chain to one of `anchors` (DER), under any name.
    pub fn for_clients(anchors: &[Vec<u8>]) -> Result<Self, ConfigError> {
        Ok(Self {
            anchors: read(anchors)?,
            name: None,
            crls: None,
        })
    }

    /// Also requires that no certificate of the chain is revoked.
    pub fn with_crls(self, crls: CrlPolicy) -> Result<Self, ConfigError> {
        match crls.uris.is_empty() {
            true => Err(ConfigError::Policy),
            false => Ok(Self {
                crls: Some(crls),
                ..self
            }),
        }
    }

    pub(super) fn reads_crls(&self) -> bool {
        self.crls.is_some()
    }

    /// Judges the chain including revocation, by stapled lists. Returns its first certificate, as of when the result
    /// holds and until when. Returns `None` if the lists are too old or do not cover each certificate; then the lists
    /// that the policy names have to be fetched.
    fn judge_stapled(
        &self,
        chain: &[Vec<u8>],
        from: Side,
        now: UnixTime,
        lists: &[Vec<u8>],
    ) -> Result<Option<(CertificateDer<'static>, CertificateTimes)>, Refusal> {
        let (Some(policy), false) = (&self.crls, lists.is_empty()) else {
            return Ok(None);
        };
        let read = |list: &Vec<u8>| Some((Crl::parse(list)?, this_update(list)?));
        let read: Option<Vec<(Crl, UnixTime)>> = lists.iter().map(read).collect();
        let read = read.ok_or(BAD_STAPLE)?;
        // The clock of an authority may be slightly ahead.
        let (oldest, newest) = (UnixTime(0), now.plus(SKEW));
        let issued = read.iter().map(|(_, issued)| *issued);
        let as_of = issued.clone().min().unwrap_or(oldest);
        if now.seconds_since(as_of) > policy.max_age || issued.max().is_some_and(|at| at > newest) {
            return Ok(None);
        }
        let lists: Vec<_> = read.iter().map(|(list, _)| list.list()).collect();
        let options = RevocationOptionsBuilder::new(&lists).map_err(|_| BAD_STAPLE)?;
        let options = options
            .with_status_policy(UnknownStatusPolicy::Deny)
            .with_expiration_policy(ExpirationPolicy::Enforce);
        match self.judge_with(chain, from, now, Some(options.build())) {
            Ok(leaf) => Ok(Some((leaf, (as_of, as_of.plus(policy.max_age))))),
            Err(refusal) if refusal == UNKNOWN_STATUS => Ok(None),
            Err(refusal) if refusal == FORGED => Err(BAD_STAPLE),
            Err(refusal) => Err(refusal),
        }
    }

    /// The revocation lists to be fetched.
    pub(super) fn needs(&self) -> Vec<HandshakeNeed> {
        let uris = self.crls.iter().flat_map(|crls| &crls.uris);
        uris.map(|uri| HandshakeNeed::Crl(uri.clone())).collect()
    }

    pub(crate) fn digest(&self, into: &mut Digest) {
        let Self {
            anchors,
            name,
            crls,
        } = self;
        into.list(anchors.iter(), |into, anchor| {
            into.part(&anchor.subject);
            into.part(&anchor.subject_public_key_info);
            into.part(anchor.name_constraints.as_deref().unwrap_or_default());
        });
        into.option(name.as_ref(), |into, name| {
            into.part(name.to_str().as_bytes());
        });
        into.option(crls.as_ref(), |into, crls| {
            let CrlPolicy {
                uris,
                required,
                max_age,
            } = crls;
            into.list(uris.iter(), |into, uri| into.part(uri.as_bytes()));
            into.number(u8::from(*required));
            into.number(*max_age);
        });
    }

    pub(crate) fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// The name for the extension `server_name`; IP addresses have none (RFC 6066 §3).
    pub(crate) fn dns_name(&self) -> Option<&str> {
        match &self.name {
            Some(ServerName::DnsName(name)) => Some(name.as_ref()),
            _ => None,
        }
    }

    /// Judges whether the chain is accepted now, and returns its first certificate. Judges revocation only if stapled
    /// lists cover it; then also returns as of when that holds and until when.
    pub(super) fn judge(
        &self,
        chain: &[Vec<u8>],
        from: Side,
        now: UnixTime,
        lists: &[Vec<u8>],
    ) -> Result<(CertificateDer<'static>, Option<CertificateTimes>), Refusal> {
        match self.judge_stapled(chain, from, now, lists)? {
            Some((leaf, times)) => Ok((leaf, Some(times))),
            None => Ok((self.judge_with(chain, from, now, None)?, None)),
        }
    }

    /// Judges whether a certificate of the chain is revoked, as far as the policy requires, and returns as of when that
    /// holds and until when. All needs must have been answered.
    pub(super) fn judge_revocation(
        &self,
        chain: &[Vec<u8>],
        from: Side,
        now: UnixTime,
        evidence: &HandshakeEvidence,
    ) -> Result<Option<CertificateTimes>, Refusal> {
        let Some(policy) = &self.crls else {
            return Ok(None);
        };
        let (mut lists, mut as_of): (Vec<&CertRevocationList<'_>>, _) = (Vec::new(), None);
        for uri in &policy.uris {
            let found = evidence.crl(uri);
            let fresh = found.filter(|found| found.age(now) <= policy.max_age);
            match fresh {
                Some(Found {
                    value: Ok(crl),
                    as_of: at,
                    ..
                }) => {
                    lists.push(crl.list());
                    as_of = as_of.min(Some(*at)).or(Some(*at));
                }
                _ if policy.required => return Err(UNKNOWN_STATUS),
                _ => {}
            }
        }
        let Ok(options) = RevocationOptionsBuilder::new(&lists) else {
            return Ok(None);
        };
        let options = match policy.required {
            true => options
                .with_status_policy(UnknownStatusPolicy::Deny)
                .with_expiration_policy(ExpirationPolicy::Enforce),
            false => options
                .with_status_policy(UnknownStatusPolicy::Allow)
                .with_expiration_policy(ExpirationPolicy::Ignore),
        };
        self.judge_with(chain, from, now, Some(options.build()))?;
        Ok(as_of.map(|as_of: UnixTime| (as_of, as_of.plus(policy.max_age))))
    }

    /// Whether an accepted chain is still not revoked, by the lists at hand. False if a list is not at hand.
    pub(super) fn holds_again(
        &self,
        chain: &[Vec<u8>],
        from: Side,
        now: UnixTime,
        at_hand: &dyn AtHand,
    ) -> bool {
        let needs = self.needs();
        let answers = needs.iter().map(|need| at_hand.at_hand(need, now));
        let evidence: Option<HandshakeEvidence> = answers
            .collect::<Option<Vec<_>>>()
            .map(HandshakeEvidence::from_iter);
        evidence.is_some_and(|evidence| self.judge_revocation(chain, from, now, &evidence).is_ok())
    }

    /// Judges an accepted chain again, by the lists that the policy names.
    pub(super) fn again(
        &self,
        chain: &[Vec<u8>],
        from: Side,
        now: UnixTime,
        evidence: &HandshakeEvidence,
    ) -> Result<Again, Refusal> {
        let needs = self.needs().into_iter();
        let open: Vec<_> = needs
            .filter(|need| evidence.answer(need).is_none())
            .collect();
        if !open.is_empty() {
            return Ok(Again::Needs(open));
        }
        self.judge_with(chain, from, now, None)?;
        let listed = self.judge_revocation(chain, from, now, evidence)?;
        let ends = [end(chain), listed.map(|(_, until)| until)];
        Ok(Again::Holds(ends.into_iter().flatten().min()))
    }

    fn judge_with(
        &self,
        chain: &[Vec<u8>],
        from: Side,
        now: UnixTime,
        revocation: Option<RevocationOptions<'_>>,
    ) -> Result<CertificateDer<'static>, Refusal> {
        let mut chain = chain.iter().map(|der| CertificateDer::from(der.clone()));
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
                revocation,
                None,
            )
            .map_err(refusal)?;
        if let Some(name) = &self.name {
            certificate
                .verify_is_valid_for_subject_name(name)
                .map_err(refusal)?;
        }
        // RFC 8446 §4.4.2.2.
        if !may_sign_handshakes(&leaf) {
            let reason = "the certificate's key must not sign handshakes (key usage)";
            return Err(Refusal::new(Alert::BadCertificate, reason));
        }
        Ok(leaf)
    }
}

/// When the first of these certificates (DER) expires; the epoch's start if that cannot be read.
pub(super) fn end(chain: &[Vec<u8>]) -> Option<UnixTime> {
    let ends = chain.iter().map(|certificate| not_after(certificate));
    ends.map(|end| end.unwrap_or_default()).min()
}

/// Verifies that the certificate's key made the proof over `message`.
pub(super) fn verify(
    certificate: &CertificateDer<'_>,
    proof: &CertificateVerify,
    message: &[u8],
) -> Result<(), Refusal> {
    let algorithm = algorithm(proof.scheme)
        .ok_or(Refusal::illegal("a signature scheme that was not offered"))?;
    let certificate = EndEntityCert::try_from(certificate).map_err(refusal)?;
    certificate
        .verify_signature(algorithm, message, &proof.signature)
        .map_err(|_| {
            Refusal::new(
                Alert::DecryptError,
                "the CertificateVerify signature is invalid",
            )
        })
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

/// Why a chain is refused. The reason is for the log; the peer only gets the alert.
fn refusal(error: webpki::Error) -> Refusal {
    use webpki::Error;
    let (alert, reason) = match error {
        Error::CertExpired { .. } => (Alert::CertificateExpired, "a certificate has expired"),
        Error::CertNotValidYet { .. } => {
            (Alert::CertificateExpired, "a certificate is not valid yet")
        }
        Error::UnknownIssuer => (Alert::UnknownCa, "the chain leads to no trust anchor"),
        Error::CertRevoked => (Alert::CertificateRevoked, "a certificate is revoked"),
        Error::UnknownRevocationStatus | Error::CrlExpired { .. } => return UNKNOWN_STATUS,
        Error::InvalidCrlSignatureForPublicKey | Error::IssuerNotCrlSigner => return FORGED,
        other => (Alert::BadCertificate, unacceptable(&other)),
    };
    Refusal::new(alert, reason)
}

/// The reason for the remaining errors.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is left is a certificate that cannot be read"
)]
fn unacceptable(error: &webpki::Error) -> &'static str {
    use webpki::Error;
    match error {
        Error::CertNotValidForName(_) => "the certificate is not for the expected name",
        Error::RequiredEkuNotFoundContext(_) | Error::EmptyEkuExtension => {
            "the certificate is not for this side of TLS (extended key usage)"
        }
        Error::EndEntityUsedAsCa => "a certificate that signed another is not an authority's",
        Error::CaUsedAsEndEntity => "the peer's own certificate is an authority's",
        Error::InvalidSignatureForPublicKey | Error::SignatureAlgorithmMismatch => {
            "a certificate's signature is invalid"
        }
        Error::UnsupportedSignatureAlgorithmContext(_)
        | Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "a certificate is signed with an unsupported algorithm"
        }
        Error::NameConstraintViolation => "an authority must not certify this name",
        Error::PathLenConstraintViolated | Error::MaximumPathDepthExceeded => {
            "the chain is longer than an authority allows"
        }
        Error::UnsupportedCertVersion => "a certificate is not X.509 version 3",
        Error::UnsupportedCriticalExtension => "a certificate has an unknown critical extension",
        _ => "a certificate is malformed",
    }
}

/// Seconds by which an authority's clock may be ahead.
const SKEW: u64 = 60;
const FORGED: Refusal = Refusal::new(
    Alert::CertificateUnknown,
    "a revocation list is not signed by its authority",
);
const BAD_STAPLE: Refusal = Refusal::new(
    Alert::BadCertificateStatusResponse,
    "a stapled revocation list is malformed or not signed by its authority",
);
const UNKNOWN_STATUS: Refusal = Refusal::new(
    Alert::CertificateUnknown,
    "it is unknown whether the certificates were revoked",
);
