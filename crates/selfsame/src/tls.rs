//! The listener's certificate: given, or self-signed and kept in the data directory.

mod hosts;

use std::path::{Display, Path, PathBuf};

use clap::Args;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509;
use selfsame_driver::Reason;
use selfsame_driver::clock::Clock;
use selfsame_server::{Tls, TlsError};
use selfsame_settings::InstanceSettings;
use selfsame_settings::files::is_content;
use selfsame_store::{Batch, Put, Store, TenantId};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::systemd::Reloading;
use selfsame_terminal::{output, pkcs12};
use tokio::signal::unix::{SignalKind, signal};
use url::Url;

use crate::private_file;

pub use hosts::{HostCertificates, faults};

/// The record with the key of a self-signed certificate.
const KEY: &str = "tls_key";
const SELF_MADE: &str = "self-made";
const IN_PEM: &str = "--tls-certificate and --tls-key name PEM files: the chain and its key; or a PKCS#12 file, and the file with its password";

/// The certificate of the listener.
#[derive(Args, Default)]
pub struct Certificate {
    /// The TLS certificate chain, PEM, or a PKCS#12 file with chain and key; SIGHUP reloads it and its key.
    #[arg(long, requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's key, PEM, or the file with the password of the PKCS#12 file.
    #[arg(long, requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Serve TLS with a self-signed certificate.
    #[arg(long, conflicts_with = "tls_certificate")]
    tls_self_made: bool,
    /// Serve plain http to other machines too, for a container whose port only this machine can reach. Anyone on the
    /// network in between can read everything, including the operator's token.
    #[arg(long)]
    allow_plain_http: bool,
}

impl Certificate {
    /// Whether the listener may serve plain http to other machines.
    pub fn plain_anywhere(&self) -> bool {
        self.allow_plain_http
    }

    /// With the settings of the file where no option says how TLS is served.
    pub fn unless_named(&mut self, file: &InstanceSettings) {
        if self.tls_certificate.is_none() && !self.tls_self_made {
            self.tls_certificate.clone_from(&file.tls_certificate);
            self.tls_key.clone_from(&file.tls_key);
            self.tls_self_made = file.tls_self_made;
        }
        self.allow_plain_http |= file.allow_plain_http;
    }

    /// TLS for the listener.
    pub fn source(&self) -> Option<CertificateSource> {
        match (&self.tls_certificate, &self.tls_key) {
            (Some(certificates), Some(key)) => Some(CertificateSource::Given {
                certificates: certificates.clone(),
                key: key.clone(),
            }),
            _ => self.tls_self_made.then_some(CertificateSource::SelfMade),
        }
    }

    /// TLS for the listener of an instance, whose certificate an authority may give.
    ///
    /// # Errors
    /// If another certificate is named too.
    pub fn source_or(&self, is_ordered: bool) -> Result<Option<CertificateSource>, Failure> {
        match (self.source(), is_ordered) {
            (Some(_), true) => Err(Failure::environment(selfsame_acme::TWO_SOURCES)),
            (None, true) => Ok(Some(CertificateSource::Ordered)),
            (source, false) => Ok(source),
        }
    }
}

/// The source of the certificate.
#[derive(Clone)]
pub enum CertificateSource {
    /// PEM files.
    Given {
        /// The chain, the leaf first.
        certificates: PathBuf,
        /// The private key.
        key: PathBuf,
    },
    /// Self-signed for the origin's host; made again if the host changes.
    SelfMade,
    /// Given by an authority.
    Ordered,
}

impl CertificateSource {
    /// Reads or makes the certificate; warns of one that clients will refuse.
    ///
    /// # Errors
    /// If a file can't be read or written, or holds no certificate.
    pub async fn load(&self, data: &Path, store: &Store, origin: &Url) -> Result<Tls, Failure> {
        let host = host_of(origin);
        match self {
            Self::Given { certificates, key } => {
                let tls = read(certificates, key)?;
                if let Some(why) = refused(leaf(&tls), host, Clock::default().now()) {
                    let file = certificates.display();
                    output::complain(&format!("selfsame: {file}: {why}: clients will refuse it"));
                }
                Ok(tls)
            }
            Self::SelfMade => self_made(data, store, host).await,
            Self::Ordered => selfsame_acme::first_certificate(store, origin).await,
        }
    }
}

/// On each SIGHUP reads the given files again, and uses their content from then on; if they are invalid, the
/// certificate stays.
///
/// # Errors
/// If signals can't be received.
pub fn renew_on_hangup(
    given: Option<(CertificateSource, Tls)>,
    origin: &Url,
) -> Result<(), Failure> {
    let mut hangup = signal(SignalKind::hangup())?;
    let host = host_of(origin).to_owned();
    tokio::spawn(async move {
        let mut last = given.as_ref().map(|(_, shown)| shown.clone());
        while hangup.recv().await.is_some() {
            let _reloading = Reloading::begin().await;
            let (Some((CertificateSource::Given { certificates, key }, shown)), Some(last)) =
                (&given, &mut last)
            else {
                tracing::info!("SIGHUP: there is no certificate file to read again");
                continue;
            };
            let file = certificates.display();
            let next = read(certificates, key);
            match next.and_then(|next| better(&file, next, last, &host)) {
                Ok(next) => {
                    shown.renew(&next);
                    *last = next;
                    output::complain(&format!("selfsame: {file}: the certificate was read again"));
                }
                Err(failure) => output::complain(&format!(
                    "selfsame: the certificate stays unchanged: {}",
                    failure.message()
                )),
            }
        }
    });
    Ok(())
}

fn host_of(origin: &Url) -> &str {
    origin.host_str().unwrap_or("localhost")
}

/// The next certificate, unless clients would refuse it and accept the last one.
fn better(file: &Display<'_>, next: Tls, last: &Tls, host: &str) -> Result<Tls, Failure> {
    let now = Clock::default().now();
    match refused(leaf(&next), host, now) {
        Some(why) if refused(leaf(last), host, now).is_none() => Err(Failure::environment(
            format!("{file}: {why}: clients will refuse it"),
        )),
        _ => Ok(next),
    }
}

/// The self-signed certificate of these data; made again for another host. Its key is sealed in the store. Earlier
/// builds wrote the key to a file, which is moved into the store.
async fn self_made(data: &Path, store: &Store, host: &str) -> Result<Tls, Failure> {
    let certificate = data.join("tls-certificate.pem");
    take_in(store, &data.join("tls-key.pem")).await?;
    let kept = store.read(&TenantId::instance(), KEY, SELF_MADE).await;
    let kept = kept.map_err(selfsame_driver::Error::from)?;
    if let (true, Some(key)) = (certificate.exists(), kept) {
        let file = certificate.display();
        let text = std::fs::read(&certificate)?;
        let tls = Tls::from_pem(&text, &key.value)
            .map_err(|error| Failure::environment(format!("{file}: {error}")).hint(IN_PEM))?;
        if tls.is_for(host) {
            return Ok(tls);
        }
        output::complain(&format!(
            "selfsame: {file}: a new certificate for {host}; clients that trusted the previous one must now trust this one"
        ));
    }
    if certificate.exists() {
        std::fs::remove_file(&certificate)?;
    }
    let made = Tls::self_made(host).map_err(|error| Failure::ours(error.to_string()))?;
    let key = made.key_pem.expose().as_bytes();
    keep_key(store, key).await?;
    private_file::write(&certificate, made.certificate_pem.as_bytes())?;
    Tls::from_pem(made.certificate_pem.as_bytes(), key)
        .map_err(|error| Failure::ours(error.to_string()))
}

async fn take_in(store: &Store, file: &Path) -> Result<(), Failure> {
    if !file.exists() {
        return Ok(());
    }
    let key = std::fs::read(file)?;
    keep_key(store, &key).await?;
    Ok(std::fs::remove_file(file)?)
}

async fn keep_key(store: &Store, key: &[u8]) -> Result<(), Failure> {
    let put = Put::new(KEY, SELF_MADE, key.to_vec());
    let batch = Batch::new(TenantId::instance()).put(put);
    let committed = store.commit(batch).await;
    committed.map_err(selfsame_driver::Error::from)?;
    Ok(())
}

/// The certificate in these files.
///
/// # Errors
/// If a file can't be read, or holds no certificate.
pub fn read(certificates: &Path, key: &Path) -> Result<Tls, Failure> {
    let content = |file: &Path| {
        if is_content(file) {
            let what = "the option contains a certificate or a key instead of the path of a file";
            return Err(Failure::environment(what).hint(IN_PEM));
        }
        std::fs::read(file).map_err(|error| {
            Failure::environment(format!("{}: {error}", file.display())).hint(IN_PEM)
        })
    };
    let chain = content(certificates)?;
    let pair = match pkcs12::is_pkcs12(&chain) {
        true => {
            let password = private_file::read(key, Reason::text(pkcs12::PASSWORD))?;
            let named = certificates.display().to_string();
            let read = pkcs12::read(&named, &chain, &password)?;
            Tls::from_pem(read.chain.as_bytes(), read.key.expose().as_bytes())
        }
        false => Tls::from_pem(&chain, &content(key)?),
    };
    pair.map_err(|error| {
        let file = match error {
            TlsError::NoKey(_) => key,
            _ => certificates,
        };
        Failure::environment(format!("{}: {error}", file.display())).hint(IN_PEM)
    })
}

/// The server's certificate.
fn leaf(tls: &Tls) -> &[u8] {
    tls.certificates.first().map_or(&[], Vec::as_slice)
}

/// Why clients will refuse this certificate (DER) at this host now, even if they trust its issuer.
fn refused(own: &[u8], host: &str, now: UnixTime) -> Option<String> {
    if !Tls::covers(own, host) {
        return Some(format!("the certificate is not for {host}"));
    }
    let begin = x509::not_before(own)?;
    if begin > now {
        return Some(format!("it is not valid before {}", begin.rfc3339()));
    }
    let end = x509::not_after(own)?;
    (end < now).then(|| format!("the certificate expired at {}", end.rfc3339()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    async fn made(data: &Path, store: &Store, url: &str) -> Vec<Vec<u8>> {
        let loaded = CertificateSource::SelfMade
            .load(data, store, &origin(url))
            .await;
        loaded.unwrap().certificates
    }

    #[tokio::test]
    async fn a_self_made_certificate_is_kept_for_its_host_and_made_anew_for_another() {
        let folder = tempfile::tempdir().unwrap();
        let (data, store) = (folder.path(), store(folder.path()).await);
        let first = made(data, &store, "https://one.example/").await;
        assert_eq!(made(data, &store, "https://one.example:7380/").await, first);
        let other = made(data, &store, "https://other.example/").await;
        assert_ne!(other, first);
        assert_eq!(made(data, &store, "https://other.example/").await, other);
    }

    #[tokio::test]
    async fn the_key_of_a_self_made_certificate_lies_in_no_file_and_one_of_an_earlier_build_is_taken_in()
     {
        let folder = tempfile::tempdir().unwrap();
        let (data, store) = (folder.path(), store(folder.path()).await);
        let before = Tls::self_made("one.example").unwrap();
        let file = data.join("tls-key.pem");
        private_file::write(&file, before.key_pem.expose().as_bytes()).unwrap();
        let certificate = before.certificate_pem.as_bytes();
        private_file::write(&data.join("tls-certificate.pem"), certificate).unwrap();
        let first = made(data, &store, "https://one.example/").await;
        assert!(!file.exists());
        assert_eq!(made(data, &store, "https://one.example/").await, first);
        made(data, &store, "https://other.example/").await;
        for entry in std::fs::read_dir(data).unwrap() {
            let content = std::fs::read(entry.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&content);
            assert!(!text.contains("PRIVATE KEY"));
        }
    }

    async fn store(data: &Path) -> Store {
        let custody = selfsame_terminal::master_key::Custody::BesideTheData;
        selfsame_terminal::records::open(data, &custody)
            .await
            .unwrap()
    }

    #[test]
    fn a_certificate_that_others_will_refuse_does_not_take_the_place_of_one_that_they_take() {
        let made = |host: &str| {
            let made = Tls::self_made(host).unwrap();
            let key = made.key_pem.expose().as_bytes();
            Tls::from_pem(made.certificate_pem.as_bytes(), key).unwrap()
        };
        let (good, other) = (made("one.example"), made("other.example"));
        let file = Path::new("chain.pem");
        let taken =
            |next: &Tls, last: &Tls| better(&file.display(), next.clone(), last, "one.example");
        let kept = taken(&other, &good).err().unwrap();
        assert!(
            kept.message().contains("clients will refuse it"),
            "{kept:?}"
        );
        assert!(taken(&made("one.example"), &good).is_ok());
        assert!(taken(&good, &other).is_ok());
        // A certificate for another host may be renewed: the instance may be behind a proxy with a name of its own.
        assert!(taken(&made("other.example"), &other).is_ok());
    }

    #[test]
    fn a_certificate_that_has_ended_has_not_begun_or_is_for_another_host_is_told_of() {
        let made = Tls::self_made("one.example").unwrap();
        let key = made.key_pem.expose().as_bytes();
        let tls = Tls::from_pem(made.certificate_pem.as_bytes(), key).unwrap();
        let (today, later) = (UnixTime(1_790_000_000), UnixTime(4_000_000_000));
        let tls = leaf(&tls);
        assert_eq!(refused(tls, "one.example", today), None);
        let early = refused(tls, "one.example", UnixTime(1_000_000_000));
        assert!(early.unwrap().contains("not valid before 2025"));
        assert!(
            refused(tls, "other.example", today)
                .unwrap()
                .contains("other.example")
        );
        assert!(refused(tls, "one.example", later).unwrap().contains("2050"));
    }
}
