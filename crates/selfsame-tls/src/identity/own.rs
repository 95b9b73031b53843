//! Who we are: the certificate chain, and the DID with its credential, each with the key that proves it.

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

/// What we can show; with neither, a client shows nothing.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    /// A certificate chain.
    pub certificate: Option<CertificateIdentity>,
    /// A DID, perhaps with a credential.
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

/// Revocation lists that whoever shares them may renew while connections are made with them.
#[derive(Clone, Debug, Default)]
pub struct Crls(Arc<Mutex<Arc<[Vec<u8>]>>>);

impl Crls {
    /// Puts these lists (DER) in the place of others: the first is that of the authority of our own certificate, the
    /// next that of the one above it. More than 32 KiB of them are not sent.
    pub fn set(&self, lists: Vec<Vec<u8>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = lists.into();
    }

    fn get(&self) -> Arc<[Vec<u8>]> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&lists)
    }
}

/// Bytes of the lists that are sent along: with them a message is still one that peers read.
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

    /// The same with revocation lists that go along to peers that read them.
    #[must_use]
    pub fn with_crls(self, crls: Crls) -> Self {
        Self { crls, ..self }
    }

    /// What is shown to a peer that reads revocation lists, or does not.
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
}

impl CertificateIdentity {
    /// Whether it certifies the server of this name.
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
        // The chain holds the public key.
        into.list(self.chain.iter(), |into, entry| into.part(&entry.data));
    }
}

/// A DID and its key, with the credential that says who it is.
#[derive(Clone, Debug)]
pub struct SsiIdentity {
    /// The DID.
    pub did: Did,
    /// A key of the DID document's `authentication`.
    pub key: SigningKey,
    /// The credential; without one there is authentication by the DID alone.
    pub vc: Option<Vc>,
    /// What is sent along to peers that can read it (profile `selfsame`).
    pub staples: Staples,
}

/// Staples that whoever shares them may renew while connections are made with them.
#[derive(Clone, Debug, Default)]
pub struct Staples(Arc<Mutex<Arc<[Staple]>>>);

impl Staples {
    /// Those to be sent now.
    pub fn get(&self) -> Arc<[Staple]> {
        let staples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&staples)
    }

    /// Puts others in their place, for the handshakes that begin from now on.
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
    /// Whether it can be shown to a peer that asks for this, which resolves its DID's method and reads its credential.
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

    /// Whether the profile can carry it.
    pub(crate) fn check(&self, profile: &Profile) -> Result<(), ConfigError> {
        if DidMessage::new(&self.did, Vec::new(), profile).is_none() {
            return Err(ConfigError::Method);
        }
        // A DID alone is no certificate of any type.
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
