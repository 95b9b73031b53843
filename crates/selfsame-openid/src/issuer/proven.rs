//! Offers of types that need other credentials: they are made from an application, and the proof must still hold when
//! the credential is issued.

use selfsame_core::events::{Event, EventKind};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_store::Batch;
use selfsame_types::CredentialType;

use super::Issuer;
use crate::view::issuer::{Offer, ProvenOffer};

impl Issuer {
    /// Creates an offer for an application. `further` gives what is written in the same commit, from the offer's id.
    ///
    /// # Errors
    /// As [`Self::create_offer`]; `Conflict` if what `further` expects is no longer so.
    pub async fn create_proven_offer(
        &self,
        proven: &ProvenOffer<'_>,
        further: impl FnOnce(&str) -> Result<Batch>,
    ) -> Result<Offer> {
        let current = self.current().await?;
        let draft = self.draft(&current, proven.new, Some(proven.application))?;
        let event = Event::new(EventKind::Offered, &draft.id);
        let batch = draft.written_in(further(&draft.id)?);
        let committed = self.shared.events.commit(batch, event).await?;
        let offer = self.shown_once(&draft)?;
        self.memory.offers.hold(&committed, draft.record);
        Ok(offer)
    }

    /// Judges what was proven for an application, before its credential is issued.
    pub(super) async fn still_proven(&self, application: &str, one: &CredentialType) -> Result<()> {
        let proofs = self.context.proofs.get();
        let proofs = proofs.ok_or_else(|| Error::internal("nothing judges applications"))?;
        let organisation = &self.context.organisation.name;
        let judged = proofs.judge(organisation, application, one).await;
        judged.map_err(|error| match error.kind {
            ErrorKind::Forbidden | ErrorKind::NotFound => {
                error.with_code(CredentialCode::CredentialRequestDenied.as_str())
            }
            _ => error,
        })
    }
}
