//! The server's certificate: configured, self-signed, or given by an authority.

pub(crate) mod challenge;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, x509};
use tokio_rustls::TlsAcceptor;

pub use challenge::AlpnAnswer;

/// The first and the last year of a self-signed certificate. Clients trust it because they know it, not by its dates.
const YEARS: (i32, i32) = (2025, 2050);

/// A certificate with its key, ready for handshakes.
#[derive(Clone)]
pub struct Tls {
    /// The chain in DER, the server's own certificate first.
    pub certificates: Vec<Vec<u8>>,
    config: Arc<ServerConfig>,
    shown: Arc<ShownCertificates>,
}

/// The certificate of further hosts.
#[derive(Clone, Debug)]
pub struct TlsHost {
    /// Their names in lower case; `*.` in place of a first label stands for any one label (RFC 9525 §6.3).
    pub names: Vec<String>,
    /// The certificate.
    pub tls: Tls,
}

/// When a chain ends that new handshakes show.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShownEnd {
    /// The name of the further host that it is for; none for the server's own.
    pub host: Option<String>,
    /// When the first of its certificates ends.
    pub ends: UnixTime,
}

/// The certificates for new handshakes.
#[derive(Debug)]
struct ShownCertificates(RwLock<Arc<CertificateChoice>>);

/// The server's own certificate, and those of further hosts by their names.
#[derive(Clone, Debug)]
struct CertificateChoice {
    own: Arc<CertifiedKey>,
    /// Those that the settings list.
    hosts: BTreeMap<String, Arc<CertifiedKey>>,
    /// Those that an authority has given.
    ordered: BTreeMap<String, Arc<CertifiedKey>>,
    /// Those that answer an authority.
    challenges: BTreeMap<String, Arc<CertifiedKey>>,
}

/// A self-signed certificate, for the caller to store.
pub struct SelfMade {
    /// The certificate.
    pub certificate_pem: String,
    /// Its key, PKCS#8.
    pub key_pem: SecretString,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The PEM text holds no complete chain.
    #[error("it contains no complete certificate in PEM")]
    NoCertificate(#[source] rustls::pki_types::pem::Error),
    /// The PEM text holds no complete key.
    #[error("it contains no complete private key in PEM")]
    NoKey(#[source] rustls::pki_types::pem::Error),
    /// Chain and key do not match, or the kind of key is unknown.
    #[error("the certificate cannot be used: {0}")]
    Unusable(rustls::Error),
    /// No certificate can be made for this name.
    #[error("the certificate could not be made: {0}")]
    Make(rcgen::Error),
}

impl Tls {
    /// The chain and the key in PEM (PKCS#8, SEC1 or PKCS#1).
    ///
    /// # Errors
    /// If they cannot be read or do not match.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::NoKey)?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(
                rustls::pki_types::pem::Error::NoItemsFound,
            ));
        }
        let certificates = chain.iter().map(|one| one.to_vec()).collect();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let pair = CertifiedKey::from_der(chain, key, &provider).map_err(TlsError::Unusable)?;
        let choice = CertificateChoice {
            own: Arc::new(pair),
            hosts: BTreeMap::new(),
            ordered: BTreeMap::new(),
            challenges: BTreeMap::new(),
        };
        let shown = Arc::new(ShownCertificates(RwLock::new(Arc::new(choice))));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as _);
        let protocols = [b"h2".as_slice(), b"http/1.1", challenge::PROTOCOL];
        config.alpn_protocols = protocols.map(<[u8]>::to_vec).to_vec();
        Ok(Self {
            certificates,
            config: Arc::new(config),
            shown,
        })
    }

    /// Uses the certificate of `next` for new handshakes; open connections continue.
    pub fn renew(&self, next: &Self) {
        let own = next.shown.now().own.clone();
        self.shown.change(|choice| choice.own = own);
    }

    /// Uses these certificates for new handshakes of clients that name one of their hosts (RFC 6066 §3), in place of all
    /// others but the server's own, which every other client gets.
    pub fn renew_hosts(&self, hosts: &[TlsHost]) {
        let named = by_name(hosts);
        self.shown.change(|choice| choice.hosts = named);
    }

    /// Uses these certificates, which an authority has given, for new handshakes of clients that name one of their hosts,
    /// unless [`Self::renew_hosts`] has one for that host. They take the place of those that were given before.
    pub fn renew_ordered(&self, hosts: &[TlsHost]) {
        let named = by_name(hosts);
        self.shown.change(|choice| choice.ordered = named);
    }

    /// Answers an authority that asks for one of these hosts (RFC 8737 §3), and refuses one that asks for another.
    ///
    /// # Errors
    /// If no certificate can be made for the name of a host. The answers are then those of before.
    pub fn answer_challenges(&self, answers: &[AlpnAnswer]) -> Result<(), TlsError> {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let made = answers.iter().map(|answer| answer.by_host(&provider));
        let made = made.collect::<Result<_, TlsError>>()?;
        self.shown.change(|choice| choice.challenges = made);
        Ok(())
    }

    /// Whether [`Self::renew_hosts`] has a certificate for this host, whatever that is valid for.
    pub fn is_listed(&self, host: &str) -> bool {
        let shown = self.shown.now();
        shown.listed(&host.to_ascii_lowercase()).is_some()
    }

    /// The ends of the chains that new handshakes show: of the server's own, and of those of further hosts. A chain that
    /// can't be read has none.
    pub fn ends(&self) -> Vec<ShownEnd> {
        let shown = self.shown.now();
        let own = std::iter::once((None, &shown.own));
        let hosts = shown
            .hosts
            .iter()
            .chain(&shown.ordered)
            .map(|(host, pair)| (Some(host.clone()), pair));
        let dated = own.chain(hosts).filter_map(|(host, pair)| {
            let ends = x509::chain_not_after(pair.cert.iter().map(AsRef::as_ref))?;
            Some(ShownEnd { host, ends })
        });
        dated.collect()
    }

    /// The certificate that a client which names this host gets, DER.
    pub fn certificate_for(&self, host: &str) -> Option<Vec<u8>> {
        let shown = self.shown.now();
        let certificate = shown.of(Some(host)).cert.first();
        certificate.map(|certificate| certificate.to_vec())
    }

    /// Whether the server's certificate is valid for `host`, a name or an address.
    pub fn is_for(&self, host: &str) -> bool {
        let own = self.certificates.first();
        own.is_some_and(|own| Self::covers(own, host))
    }

    /// Whether a certificate, DER, is valid for `host`, a name or an address (RFC 9525 §6).
    pub fn covers(certificate: &[u8], host: &str) -> bool {
        let certificate = CertificateDer::from(certificate);
        match (
            ParsedCertificate::try_from(&certificate),
            ServerName::try_from(bare(host)),
        ) {
            (Ok(own), Ok(name)) => verify_server_name(&own, &name).is_ok(),
            _ => false,
        }
    }

    /// The certificates in a PEM text, as DER.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn certificates_of(pem: &[u8]) -> Result<Vec<Vec<u8>>, TlsError> {
        let found = certificates(pem)?;
        Ok(found.iter().map(|one| one.to_vec()).collect())
    }

    /// Makes a certificate for `host`, a name or an address, signed by its own key.
    ///
    /// # Errors
    /// If `host` is neither.
    pub fn self_made(host: &str) -> Result<SelfMade, TlsError> {
        let key = KeyPair::generate().map_err(TlsError::Make)?;
        let mut params =
            CertificateParams::new(vec![bare(host).to_owned()]).map_err(TlsError::Make)?;
        params.not_before = rcgen::date_time_ymd(YEARS.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(YEARS.1, 1, 1);
        params
            .distinguished_name
            .push(DnType::CommonName, "Selfsame, self-made");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).map_err(TlsError::Make)?;
        Ok(SelfMade {
            certificate_pem: certificate.pem(),
            key_pem: SecretString::from(key.serialize_pem()),
        })
    }

    /// Accepts handshakes with this certificate; offers HTTP/2 and HTTP/1.1.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

impl ShownCertificates {
    fn now(&self) -> Arc<CertificateChoice> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut CertificateChoice)) {
        let mut shown = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut shown));
    }
}

impl CertificateChoice {
    /// The certificate for this host; the server's own if it has none, and for clients that name no host.
    fn of(&self, host: Option<&str>) -> &Arc<CertifiedKey> {
        self.of_host(host.unwrap_or_default()).unwrap_or(&self.own)
    }

    fn of_host(&self, host: &str) -> Option<&Arc<CertifiedKey>> {
        // Most servers have one certificate.
        if self.hosts.is_empty() && self.ordered.is_empty() {
            return None;
        }
        let host = host.to_ascii_lowercase();
        self.listed(&host).or_else(|| self.ordered.get(&host))
    }

    /// The certificate that the settings list for this host, in lower case.
    fn listed(&self, host: &str) -> Option<&Arc<CertifiedKey>> {
        let below = || {
            let (_, rest) = host.split_once('.')?;
            self.hosts.get(&format!("*.{rest}"))
        };
        self.hosts.get(host).or_else(below)
    }
}

impl ResolvesServerCert for ShownCertificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let shown = self.now();
        if is_asked_by_authority(&hello) {
            // RFC 8737 §3: without an answer for the host, the handshake fails.
            let host = hello.server_name()?.to_ascii_lowercase();
            return shown.challenges.get(&host).cloned();
        }
        Some(shown.of(hello.server_name()).clone())
    }
}

/// RFC 8737 §3: an authority offers its protocol and no other.
fn is_asked_by_authority(hello: &ClientHello<'_>) -> bool {
    let Some(mut offered) = hello.alpn() else {
        return false;
    };
    offered.next() == Some(challenge::PROTOCOL) && offered.next().is_none()
}

fn by_name(hosts: &[TlsHost]) -> BTreeMap<String, Arc<CertifiedKey>> {
    let named = hosts.iter().flat_map(|host| {
        let pair = host.tls.shown.now().own.clone();
        let names = host.names.iter().cloned();
        names.map(move |name| (name, pair.clone()))
    });
    named.collect()
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("certificates", &self.certificates.len())
            .finish_non_exhaustive()
    }
}

/// An IPv6 address as in certificates, without the brackets of a URL.
fn bare(host: &str) -> &str {
    host.trim_matches(['[', ']'])
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(TlsError::NoCertificate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_self_made_certificate_can_be_served() {
        for host in ["selfsame.example", "127.0.0.1", "[::1]"] {
            let made = Tls::self_made(host).unwrap();
            let tls = Tls::from_pem(
                made.certificate_pem.as_bytes(),
                made.key_pem.expose().as_bytes(),
            )
            .unwrap();
            assert_eq!(tls.certificates.len(), 1, "{host}");
            assert!(tls.is_for(host), "{host}");
            assert!(!tls.is_for("other.example") && !tls.is_for("127.0.0.2"));
        }
    }

    fn tls_for(host: &str) -> Tls {
        let made = Tls::self_made(host).unwrap();
        let key = made.key_pem.expose().as_bytes();
        Tls::from_pem(made.certificate_pem.as_bytes(), key).unwrap()
    }

    fn host(names: &[&str], tls: &Tls) -> TlsHost {
        TlsHost {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            tls: tls.clone(),
        }
    }

    /// Whose certificate a client gets that names this host, or none, in a real handshake.
    async fn shown(server: &Tls, name: Option<&str>) -> Vec<u8> {
        handshake(server, name, &[]).await.unwrap()
    }

    /// Whose certificate a client gets that names this host, or none, and offers these protocols.
    async fn handshake(
        server: &Tls,
        name: Option<&str>,
        protocols: &[&[u8]],
    ) -> std::io::Result<Vec<u8>> {
        #[derive(Debug)]
        struct AcceptsAll;

        impl rustls::client::danger::ServerCertVerifier for AcceptsAll {
            fn verify_server_cert(
                &self,
                _: &CertificateDer<'_>,
                _: &[CertificateDer<'_>],
                _: &ServerName<'_>,
                _: &[u8],
                _: rustls::pki_types::UnixTime,
            ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
                Ok(rustls::client::danger::ServerCertVerified::assertion())
            }

            fn verify_tls12_signature(
                &self,
                _: &[u8],
                _: &CertificateDer<'_>,
                _: &rustls::DigitallySignedStruct,
            ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error>
            {
                Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
            }

            fn verify_tls13_signature(
                &self,
                _: &[u8],
                _: &CertificateDer<'_>,
                _: &rustls::DigitallySignedStruct,
            ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error>
            {
                Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
            }

            fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
                vec![rustls::SignatureScheme::ECDSA_NISTP256_SHA256]
            }
        }

        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptsAll))
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
        let (near, far) = tokio::io::duplex(64 * 1024);
        // Clients name no host by an address (RFC 6066 §3).
        let name = ServerName::try_from(name.unwrap_or("192.0.2.1").to_owned()).unwrap();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let (client, served) =
            tokio::join!(connector.connect(name, near), server.acceptor().accept(far));
        served?;
        let client = client?;
        let certificates = client.get_ref().1.peer_certificates().unwrap();
        Ok(certificates[0].to_vec())
    }

    #[tokio::test]
    async fn a_client_gets_the_certificate_of_the_host_that_it_names_and_else_the_servers_own() {
        let own = tls_for("id.example");
        let (clinic, any) = (tls_for("id.clinic.example"), tls_for("a.school.example"));
        own.renew_hosts(&[
            host(&["id.clinic.example"], &clinic),
            host(&["*.school.example", "school.example", "intranet"], &any),
        ]);
        for (name, expected) in [
            (Some("id.example"), &own),
            (Some("id.clinic.example"), &clinic),
            (Some("ID.Clinic.Example"), &clinic),
            (Some("a.school.example"), &any),
            (Some("school.example"), &any),
            (Some("intranet"), &any),
            (Some("a.b.school.example"), &own),
            (Some("clinic.example"), &own),
            (Some("unknown.example"), &own),
            (None, &own),
        ] {
            let shown = shown(&own, name).await;
            assert_eq!(shown, expected.certificates[0], "{name:?}");
        }
        assert!(Tls::covers(
            &own.certificate_for("id.clinic.example").unwrap(),
            "id.clinic.example"
        ));
        assert!(!Tls::covers(
            &own.certificate_for("unknown.example").unwrap(),
            "unknown.example"
        ));
    }

    #[tokio::test]
    async fn a_certificate_that_an_authority_gave_is_shown_where_none_is_listed() {
        let own = tls_for("id.example");
        let (listed, given) = (tls_for("id.clinic.example"), tls_for("id.school.example"));
        own.renew_hosts(&[host(&["*.clinic.example"], &listed)]);
        own.renew_ordered(&[
            host(&["id.school.example"], &given),
            host(&["id.clinic.example"], &given),
        ]);
        for (name, expected) in [
            ("ID.school.example", &given),
            ("id.clinic.example", &listed),
            ("id.example", &own),
        ] {
            let shown = shown(&own, Some(name)).await;
            assert_eq!(shown, expected.certificates[0], "{name}");
        }
        assert!(own.is_listed("ID.clinic.example") && !own.is_listed("id.school.example"));
        let ends: Vec<_> = own.ends().into_iter().map(|end| end.host).collect();
        assert!(ends.contains(&Some("id.school.example".to_owned())));
        own.renew_ordered(&[]);
        let shown = shown(&own, Some("id.school.example")).await;
        assert_eq!(shown, own.certificates[0]);
    }

    #[tokio::test]
    async fn an_authority_gets_the_answer_for_the_host_that_it_asks_for_and_nobody_else_does() {
        let own = tls_for("id.example");
        let answer = AlpnAnswer {
            host: "id.example".to_owned(),
            digest: [7; 32],
        };
        let asked = |name| handshake(&own, Some(name), &[challenge::PROTOCOL]);
        assert!(asked("id.example").await.is_err(), "nothing is asked yet");
        own.answer_challenges(&[answer]).unwrap();
        let shown = asked("ID.example").await.unwrap();
        // RFC 8737 §3: id-pe-acmeIdentifier, critical, an OCTET STRING of the digest.
        let mut extension = vec![
            0x06, 8, 0x2b, 6, 1, 5, 5, 7, 1, 0x1f, 1, 1, 0xff, 4, 34, 4, 32,
        ];
        extension.extend([7; 32]);
        assert!(shown.windows(extension.len()).any(|part| part == extension));
        let name = b"id.example";
        assert!(shown.windows(name.len()).any(|part| part == name));
        assert!(asked("id.other.example").await.is_err());
        let others: [&[&[u8]]; 3] = [&[], &[b"h2"], &[challenge::PROTOCOL, b"http/1.1"]];
        for protocols in others {
            let shown = handshake(&own, Some("id.example"), protocols).await;
            assert_eq!(shown.unwrap(), own.certificates[0], "{protocols:?}");
        }
        own.answer_challenges(&[]).unwrap();
        assert!(asked("id.example").await.is_err(), "the answer is over");
    }

    #[test]
    fn a_name_that_no_certificate_is_made_for_leaves_the_answers_as_they_are() {
        let own = tls_for("id.example");
        let answer = |host: &str| AlpnAnswer {
            host: host.to_owned(),
            digest: [7; 32],
        };
        assert!(
            own.answer_challenges(&[answer("id.example"), answer("é")])
                .is_err()
        );
        assert!(own.answer_challenges(&[answer("id.example")]).is_ok());
    }

    #[tokio::test]
    async fn new_certificates_are_shown_in_the_next_handshake() {
        let own = tls_for("id.example");
        let served = own.clone();
        let clinic = tls_for("id.clinic.example");
        own.renew_hosts(&[host(&["id.clinic.example"], &clinic)]);
        let name = Some("id.clinic.example");
        assert_eq!(shown(&served, name).await, clinic.certificates[0]);
        let (next, next_own) = (tls_for("id.clinic.example"), tls_for("id.example"));
        own.renew_hosts(&[host(&["id.clinic.example"], &next)]);
        own.renew(&next_own);
        assert_eq!(shown(&served, name).await, next.certificates[0]);
        assert_eq!(shown(&served, None).await, next_own.certificates[0]);
        let end = UnixTime::parse_rfc3339("2050-01-01T00:00:00Z").unwrap();
        let ends = [None, name.map(str::to_owned)].map(|host| ShownEnd { host, ends: end });
        assert_eq!(served.ends(), ends);
        own.renew_hosts(&[]);
        assert_eq!(served.ends(), ends[..1]);
        assert_eq!(shown(&served, name).await, next_own.certificates[0]);
    }

    #[test]
    fn a_certificate_with_a_foreign_key_is_refused() {
        let one = Tls::self_made("a.example").unwrap();
        let other = Tls::self_made("a.example").unwrap();
        let mixed = Tls::from_pem(
            one.certificate_pem.as_bytes(),
            other.key_pem.expose().as_bytes(),
        );
        assert!(matches!(mixed, Err(TlsError::Unusable(_))));
        let cut = |pem: &[u8]| pem[..pem.len() / 2].to_vec();
        let (chain, key) = (
            other.certificate_pem.as_bytes(),
            other.key_pem.expose().as_bytes(),
        );
        for chain in [b"".to_vec(), cut(chain)] {
            let refused = Tls::from_pem(&chain, key);
            assert!(matches!(refused, Err(TlsError::NoCertificate(_))));
        }
        for key in [b"".to_vec(), cut(key)] {
            let refused = Tls::from_pem(chain, &key);
            assert!(matches!(refused, Err(TlsError::NoKey(_))));
        }
    }
}
