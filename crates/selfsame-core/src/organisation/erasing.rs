//! Erasures in the store: ordered, found by the duty that carries them out, and carried on.

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Page, Record, StoreError, TenantId};

use super::OrganisationName;
use super::erasure::{Erasure, ErasureWork, Urgency};
use super::records::{HostedOrganisation, ORGANISATION, Organisations, put, unknown};
use super::view::ErasureOrder;

/// Organisations whose erasure goes on in one round.
const AT_ONCE: usize = 100;

impl Organisations {
    /// Begins the erasure of an organisation, or ends the time for which an erased one keeps what others need. It can't be
    /// undone.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` for the one that every instance has, and if the name was not typed again; `Conflict` if others change it at the same time, or
    /// if it is erased and not to be hastened.
    pub async fn erase(
        &self,
        name: &OrganisationName,
        order: &ErasureOrder,
    ) -> Result<HostedOrganisation> {
        if name.is_main() {
            return Err(Error::bad_request("organisation-main-not-erased"));
        }
        if order.confirm.trim() != name.as_str() {
            return Err(Error::bad_request("organisation-name-not-typed").with("name", name));
        }
        let hosted = self.find(name).await?.ok_or_else(unknown)?;
        let (now, kept) = (self.shared.clock.now(), self.kept_seconds());
        let erasure = match hosted.record.erasure.clone() {
            None if order.now => Erasure::begin(now, 0),
            None => Erasure::begin(now, kept),
            Some(erasure) if order.now && !erasure.is_over() => erasure.hastened(now),
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    "organisation-erased-already",
                ));
            }
        };
        tracing::info!(organisation = %name, "the erasure of an organisation is ordered");
        self.write_erasure(&hosted, erasure, Batch::new(TenantId::instance()))
            .await?;
        self.find(name).await?.ok_or_else(unknown)
    }

    /// How long, in seconds, what others need is kept after an erasure.
    #[must_use]
    pub fn kept_seconds(&self) -> u64 {
        self.shared.config.organisations.kept_after_erasure
    }

    /// Some erasures that the duty has to look at, the oldest organisation first, after that with this cursor.
    ///
    /// # Errors
    /// The store's.
    pub async fn erasures(
        &self,
        urgency: Urgency,
        after: Option<String>,
    ) -> Result<(Vec<HostedOrganisation>, Option<String>)> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let mut page = Page::first(AT_ONCE);
        page.after = after;
        let tag = urgency.tag();
        let found = store.find(&instance, ORGANISATION, &tag, &page).await?;
        let last = found.last().filter(|_| found.len() == AT_ONCE);
        let next = last.map(Record::cursor);
        let read = found.iter().map(HostedOrganisation::read);
        Ok((read.collect::<Result<_>>()?, next))
    }

    /// Notes that this work of an erasure is done, in the commit of `with`.
    ///
    /// # Errors
    /// `Conflict` if the record has changed since it was read; the store's.
    pub async fn erasure_went_on(
        &self,
        hosted: &HostedOrganisation,
        work: ErasureWork,
        with: Batch,
    ) -> Result<()> {
        let erasure = hosted.record.erasure.clone();
        let erasure = erasure.ok_or_else(|| Error::internal("no erasure"))?;
        tracing::info!(organisation = %hosted.name, ?work, "the erasure of an organisation went on");
        self.write_erasure(hosted, erasure.after(work), with).await
    }

    async fn write_erasure(
        &self,
        hosted: &HostedOrganisation,
        erasure: Erasure,
        with: Batch,
    ) -> Result<()> {
        let mut record = hosted.record.clone();
        record.state = erasure.state();
        record.changes = record.changes.saturating_add(1);
        if erasure.is_over() {
            record.title = hosted.name.to_string();
        }
        record.erasure = Some(erasure);
        let batch = Batch::new(TenantId::instance())
            .expect(
                ORGANISATION,
                hosted.name.as_str(),
                Expect::Version(hosted.version()),
            )
            .put(put(&hosted.name, &record)?)
            .and(with);
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "organisation-changed"))
            }
            Err(other) => Err(other.into()),
        }
    }
}
