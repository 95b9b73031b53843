//! Our identities: a certificate chain, and a DID with its credential, each with its private key.

use std::sync::{Arc, Mutex, PoisonError};

use rustls_pki_types::{CertificateDer, ServerName};
use selfsame_did::Did;
use webpki::EndEntityCert;

use crate::codec::{
    CertificateEntry, DidMessage, Extension, Extensions, Mode, SsiParameters, Staple, Vc,
};
use crate::digest::Digest;
use crate::error::ConfigError;
use crate::profile::Profile;
use crate::provider::SigningKey;

/// Our identities. A client with neither stays anonymous.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    /// A certificate chain.
    pub certificate: Option<CertificateIdentity>,
    /// A DID, with or without a credential.
    pub ssi: Option<SsiIdentity>,
}

impl Identities {
    pub(crate) fn digest(&self, into: &mut Digest) {
        let Self { certificate, ssi } = self;
        into.option(certificate.as_ref(), |into, own| own.digest(into));
        into.option(ssi.as_ref(), |into, own| {
            into.part(own.did.as_str().as_bytes());
            into.part(&own.key.spki().unwrap_or_default());
            into.option(own.vc.as_ref(), |into, vc| {
                into.number(vc.format.0);
                into.part(&vc.bytes);
            });
        });
    }
}

/// A certificate chain and its key.
#[derive(Clone, Debug)]
pub struct CertificateIdentity {
    pub(crate) chain: Vec<CertificateEntry>,
    pub(crate) key: SigningKey,
    crls: Crls,
}

/// Revocation lists to staple. They can be replaced while configurations use them.
#[derive(Clone, Debug, Default)]
pub struct Crls(Arc<Mutex<Arc<[Vec<u8>]>>>);

impl Crls {
    /// Replaces the lists (DER). The first is that of the authority of our own certificate, the next that of the
    /// authority above. If they exceed 32 KiB, they are not sent.
    pub fn set(&self, lists: Vec<Vec<u8>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = lists.into();
    }

    fn get(&self) -> Arc<[Vec<u8>]> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&lists)
    }
}

/// Maximum bytes of stapled lists, so that peers still accept the message.
const MAX_STAPLED: usize = 32 * 1024;

impl CertificateIdentity {
    /// A chain in DER, our own certificate first, which must be for `key`.
    pub fn new(chain: &[Vec<u8>], key: SigningKey) -> Result<Self, ConfigError> {
        let leaf = chain.first().ok_or(ConfigError::Certificate)?;
        let leaf = CertificateDer::from(leaf.as_slice());
        let certificate = EndEntityCert::try_from(&leaf).map_err(|_| ConfigError::Certificate)?;
        let certified = certificate.subject_public_key_info();
        if key.spki().as_deref() != Some(certified.as_ref()) {
            return Err(ConfigError::KeyMismatch);
        }
        let entry = |data: &Vec<u8>| CertificateEntry {
            data: data.clone(),
            extensions: Extensions::default(),
        };
        Ok(Self {
            chain: chain.iter().map(entry).collect(),
            key,
            crls: Crls::default(),
        })
    }

    /// Staples these revocation lists for peers that read them.
    #[must_use]
    pub fn with_crls(self, crls: Crls) -> Self {
        Self { crls, ..self }
    }

    /// The entries of Certificate, with revocation lists if `reads_crls`.
    pub(crate) fn entries(&self, reads_crls: bool) -> Vec<CertificateEntry> {
        let mut entries = self.chain.clone();
        let lists = self.crls.get();
        let bytes: usize = lists.iter().map(Vec::len).sum();
        if reads_crls && bytes <= MAX_STAPLED {
            for (entry, list) in entries.iter_mut().zip(lists.iter()) {
                entry.extensions.0.push(Extension::Crl(list.clone()));
            }
        }
        entries
    }

    /// Whether the certificate is for the server `name`.
    pub(crate) fn is_for(&self, name: &str) -> bool {
        let leaf = self.chain.first().map_or(&[][..], |leaf| &leaf.data);
        let leaf = CertificateDer::from(leaf);
        let (Ok(certificate), Ok(name)) =
            (EndEntityCert::try_from(&leaf), ServerName::try_from(name))
        else {
            return false;
        };
        certificate.verify_is_valid_for_subject_name(&name).is_ok()
    }

    pub(crate) fn digest(&self, into: &mut Digest) {
        // The chain contains the public key.
        into.list(self.chain.iter(), |into, entry| into.part(&entry.data));
    }
}

/// A DID and its key, with a credential if there is one.
#[derive(Clone, Debug)]
pub struct SsiIdentity {
    /// The DID.
    pub did: Did,
    /// The private key of one of the document's `authentication` keys.
    pub key: SigningKey,
    /// The credential; without it, the DID alone is proved.
    pub vc: Option<Vc>,
    /// Staples for peers that read them (profile `selfsame`).
    pub staples: Staples,
}

/// Staples that can be replaced while configurations use them.
#[derive(Clone, Debug, Default)]
pub struct Staples(Arc<Mutex<Arc<[Staple]>>>);

impl Staples {
    /// The current staples.
    pub fn get(&self) -> Arc<[Staple]> {
        let staples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&staples)
    }

    /// Replaces the staples, for handshakes that begin from now on.
    pub fn set(&self, staples: Vec<Staple>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = staples.into();
    }
}

impl FromIterator<Staple> for Staples {
    fn from_iter<I: IntoIterator<Item = Staple>>(staples: I) -> Self {
        staples.into_iter().collect::<Vec<_>>().into()
    }
}

impl From<Vec<Staple>> for Staples {
    fn from(staples: Vec<Staple>) -> Self {
        Self(Arc::new(Mutex::new(staples.into())))
    }
}

impl SsiIdentity {
    /// Whether it fits the peer's request: the peer resolves the DID's method and reads the credential's format.
    pub(crate) fn fits(&self, asked: &SsiParameters, profile: &Profile) -> bool {
        let reads = |vc: &Vc| asked.reads(vc.format, profile);
        let has_it = match asked.mode {
            Mode::Certificate => false,
            Mode::Did => true,
            Mode::Vc => self.vc.as_ref().is_some_and(reads),
        };
        let code = profile.method_code(self.did.method());
        has_it && code.is_some_and(|code| asked.methods.contains(&code))
    }

    /// Checks that the profile can carry it.
    pub(crate) fn check(&self, profile: &Profile) -> Result<(), ConfigError> {
        if DidMessage::new(&self.did, Vec::new(), profile).is_none() {
            return Err(ConfigError::Method);
        }
        // There is no certificate type for a DID without a credential.
        let is_carried = match &self.vc {
            Some(vc) => profile.format.is_none_or(|only| only == vc.format),
            None => profile.certificate_type().is_none(),
        };
        match is_carried {
            true => Ok(()),
            false => Err(ConfigError::Format),
        }
    }
}
