//! Stores how organisations look, and the files of their logos.

use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};

use super::erasure::erased;
use super::look::{Changed, CheckedLook, LogoFile, OrganisationLook};
use super::records::{Organisations, unknown};
use super::{Organisation, OrganisationName};

/// The kind of the record with the look of the organisation that every instance has, which has no other record.
const LOOK: &str = "organisation_look";
/// The kind of the files of logos, by their digests.
const LOGO: &str = "organisation_logo";

impl Organisations {
    /// How an organisation looks.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn look(&self, name: &OrganisationName) -> Result<OrganisationLook> {
        if !name.is_main() {
            let hosted = self.find(name).await?;
            return Ok(hosted.ok_or_else(unknown)?.record.look);
        }
        Ok(self.mains_look().await?.0)
    }

    /// Changes how an organisation looks. The file of a new logo is stored first, and that of the old one removed last.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if others change the organisation at the same time; the store's.
    pub async fn change_look(
        &self,
        organisation: &Organisation,
        to: &CheckedLook,
    ) -> Result<OrganisationLook> {
        let before = self.look(&organisation.name).await?;
        let after = before.changed(to);
        let files = || Batch::new(organisation.issuer.clone());
        if let (Some(logo), Changed::To(Some(file))) = (&after.logo, &to.logo) {
            let put = Put::new(LOGO, &logo.digest, file.bytes.clone());
            self.shared.store.commit(files().put(put)).await?;
        }
        match organisation.name.is_main() {
            true => self.put_mains_look(&after).await?,
            false => {
                let hosted = self.find(&organisation.name).await?;
                let mut hosted = hosted.ok_or_else(unknown)?;
                if hosted.record.erasure.is_some() {
                    return Err(erased(&organisation.name));
                }
                hosted.record.look = after.clone();
                self.store_changed(hosted).await?;
            }
        }
        if let Some(old) = before.logo
            && after.logo.as_ref() != Some(&old)
        {
            let removed = files().delete(LOGO, &old.digest);
            self.shared.store.commit(removed).await?;
        }
        Ok(after)
    }

    /// The file of an organisation's present logo, if it has this digest.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn logo(&self, organisation: &Organisation, digest: &str) -> Result<LogoFile> {
        let absent = || Error::not_found("logo-absent");
        let look = self.look(&organisation.name).await?;
        let logo = look.logo.filter(|logo| logo.digest == digest);
        let logo = logo.ok_or_else(absent)?;
        let (store, tenant) = (&self.shared.store, &organisation.issuer);
        let file = store.read(tenant, LOGO, digest).await?;
        Ok(LogoFile {
            media: logo.media,
            bytes: file.ok_or_else(absent)?.value,
        })
    }

    async fn mains_look(&self) -> Result<(OrganisationLook, Expect)> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let main = OrganisationName::main();
        Ok(match store.read(&instance, LOOK, main.as_str()).await? {
            Some(record) => (decode(&record.value)?, Expect::Version(record.version)),
            None => (OrganisationLook::default(), Expect::Absent),
        })
    }

    async fn put_mains_look(&self, look: &OrganisationLook) -> Result<()> {
        let (main, (_, expected)) = (OrganisationName::main(), self.mains_look().await?);
        let batch = Batch::new(TenantId::instance())
            .expect(LOOK, main.as_str(), expected)
            .put(Put::new(LOOK, main.as_str(), encode(look)?));
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "organisation-changed"))
            }
            Err(other) => Err(other.into()),
        }
    }
}
