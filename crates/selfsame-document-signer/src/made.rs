//! Makes keys and their certificates.

use selfsame_credential::Signer;
use selfsame_credential::mdoc::certificate::CertificateRole;
use selfsame_credential::mdoc::certificate::make::{CertificateSubject, NewCertificate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyHandle, KeyType};
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};
use serde::{Deserialize, Serialize};

use crate::{EARLY, SignerFacts};

/// A key and its certificate.
#[derive(Clone, Deserialize, Serialize)]
pub struct MadeCertificate {
    /// DER.
    pub certificate: Vec<u8>,
    pub key: KeyHandle,
    pub not_after: UnixTime,
}

/// How a key signs with its certificate.
pub fn signer(key: &KeyHandle, certificate: &[u8]) -> Signer {
    Signer {
        key: key.clone(),
        algorithm: Algorithm::Es256,
        kid: None,
        x5c: vec![certificate.to_vec()],
    }
}

/// What certificates are made of.
pub struct Making<'a> {
    pub keys: &'a Keys,
    pub tenant: &'a TenantId,
    pub ctx: &'a Ctx,
    pub facts: &'a SignerFacts<'a>,
}

impl Making<'_> {
    /// An authority that lives for some seconds. Its key is in the batch that is returned.
    pub async fn authority(&self, seconds: u64, batch: Batch) -> Result<(MadeCertificate, Batch)> {
        let (key, handle, batch) = self.keys.create(self.tenant, KeyType::P256, batch)?;
        let name = format!("{} IACA", self.facts.title);
        let not_after = self.ctx.now().plus(seconds);
        let new = NewCertificate {
            role: CertificateRole::Authority,
            subject: self.subject(&name),
            key: key.public(),
            authority: None,
            serial: self.ctx.random::<16>("authority/serial"),
            not_before: self.ctx.now().minus(EARLY),
            not_after,
            contact: self.facts.contact,
        };
        Ok((self.signed(&new, &handle, handle.clone()).await?, batch))
    }

    /// A document signer below an authority.
    pub async fn signer(
        &self,
        authority: &MadeCertificate,
        seconds: u64,
        batch: Batch,
    ) -> Result<(MadeCertificate, Batch)> {
        let (key, handle, batch) = self.keys.create(self.tenant, KeyType::P256, batch)?;
        let name = format!("{} document signer", self.facts.title);
        // An authority's certificate begins an hour before it is made, and its signers' not before it.
        let new = NewCertificate {
            role: CertificateRole::Signer,
            subject: self.subject(&name),
            key: key.public(),
            authority: Some(&authority.certificate),
            serial: self.ctx.random::<16>("signer/serial"),
            not_before: self.ctx.now().minus(EARLY),
            not_after: self.ctx.now().plus(seconds),
            contact: self.facts.contact,
        };
        Ok((self.signed(&new, &authority.key, handle).await?, batch))
    }

    fn subject<'s>(&'s self, name: &'s str) -> CertificateSubject<'s> {
        CertificateSubject {
            country: self.facts.country,
            state: None,
            organisation: Some(self.facts.title),
            common_name: name,
        }
    }

    async fn signed(
        &self,
        new: &NewCertificate<'_>,
        by: &KeyHandle,
        key: KeyHandle,
    ) -> Result<MadeCertificate> {
        let draft = new.draft(Algorithm::Es256);
        let draft =
            draft.map_err(|why| Error::bad_request("certificate-not-made").with("detail", &why))?;
        let signature = self
            .keys
            .sign(self.tenant, by, draft.signing_bytes())
            .await?;
        Ok(MadeCertificate {
            certificate: draft.finish(&signature),
            key,
            not_after: new.not_after,
        })
    }
}
