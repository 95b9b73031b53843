//! The erasure of organisations: ordered here, and carried out by a duty of the worker, portion by portion. That of people who
//! have left is completed here.

use selfsame_audit::{Act, AuditResult, AuditedActor};
use selfsame_core::organisation::view::{ErasureForecast, ErasureOrder, OrganisationView};
use selfsame_core::organisation::{
    ErasureWork, HostedOrganisation, OrganisationName, Urgency, erased,
};
use selfsame_driver::{Error, Result};
use selfsame_mediation::keys::forget_routes;
use selfsame_store::TenantId;

use super::App;

/// Portions of one organisation in one round.
const PORTIONS: usize = 8;
/// Invitations, keys and people that one commit removes.
const PEOPLE: usize = 100;

impl App {
    /// Destroys what is left of people who have deleted their accounts, if an earlier process was stopped meanwhile.
    pub(super) async fn finish_leaving(&self) -> Result<()> {
        match &self.wallet {
            Some(wallet) => wallet.finish_leaving().await,
            None => Ok(()),
        }
    }

    /// Erases an organisation. From now on only what others need to verify is served; the rest is removed by a duty.
    ///
    /// # Errors
    /// Those of [`selfsame_core::organisation::Organisations::erase`].
    pub async fn erase_organisation(
        &self,
        name: &OrganisationName,
        order: &ErasureOrder,
    ) -> Result<OrganisationView> {
        let hosted = self.organisations().erase(name, order).await?;
        self.organisations().view(&hosted)
    }

    /// What the erasure of an organisation would make unverifiable, and when.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn erasure_forecast(&self, name: &OrganisationName) -> Result<ErasureForecast> {
        let hosted = self.organisations().find(name).await?;
        let hosted = hosted.ok_or_else(|| Error::not_found("organisation-unknown"))?;
        let valid = self.roles.valid_issued(&hosted).await?;
        let until = self.clock().now().plus(self.organisations().kept_seconds());
        Ok(ErasureForecast {
            until: until.rfc3339(),
            valid_credentials: valid.count,
            and_more: valid.is_part,
            last_expires: valid.last_expires.map(|last| last.rfc3339()),
        })
    }

    /// Refuses what an organisation would do or show that is erased.
    ///
    /// # Errors
    /// `Gone`; the store's.
    pub async fn is_not_erased(&self, name: &OrganisationName) -> Result<()> {
        let hosted = self.organisations().find(name).await?;
        match hosted.is_some_and(|hosted| hosted.record.erasure.is_some()) {
            true => Err(erased(name)),
            false => Ok(()),
        }
    }

    /// Carries on the erasures that have work; a failure is only logged, since the next round tries again.
    pub async fn keep_erasing(&self, urgency: Urgency) {
        let mut after = None;
        loop {
            let (due, next) = match self.organisations().erasures(urgency, after).await {
                Ok(found) => found,
                Err(error) => return tracing::error!(%error, "erasures can't be listed"),
            };
            for hosted in &due {
                if let Err(error) = self.carry_on(hosted).await {
                    tracing::error!(organisation = %hosted.name, %error, "an erasure can't go on now");
                }
            }
            after = match next {
                Some(next) => Some(next),
                None => return,
            };
        }
    }

    /// Does some portions of what is to be done for an erasure now, and notes it once all is done.
    async fn carry_on(&self, hosted: &HostedOrganisation) -> Result<()> {
        let erasure = hosted.record.erasure.as_ref();
        let Some(work) = erasure.and_then(|erasure| erasure.work(self.clock().now())) else {
            return Ok(());
        };
        for _ in 0..PORTIONS {
            if self.portion(hosted, work).await? {
                let entry = self.erasure_entry(hosted, work);
                let with = self.trail.entry(entry, AuditResult::Done)?;
                let organisations = self.organisations();
                return organisations.erasure_went_on(hosted, work, with).await;
            }
        }
        Ok(())
    }

    /// Does a portion of work. Returns whether nothing of it is left.
    async fn portion(&self, hosted: &HostedOrganisation, work: ErasureWork) -> Result<bool> {
        match work {
            ErasureWork::Remove => {
                let people = self.operators.erase(&hosted.name, PEOPLE).await?;
                let tenant = hosted.tenant()?;
                self.remove_webhooks(&tenant).await?;
                let no_route = forget_routes(&self.shared.store, &tenant).await?;
                let is_done = people == 0 && no_route && self.roles.remove_personal(hosted).await?;
                if is_done {
                    // Its records are gone, so that nothing brings the entries back.
                    self.books.forget(&tenant).await?;
                }
                Ok(is_done)
            }
            ErasureWork::Close => Ok(true),
            ErasureWork::Destroy => self.roles.destroy(hosted).await,
        }
    }

    /// Removes the webhooks of an organisation, which are few, with their deliveries.
    async fn remove_webhooks(&self, owner: &TenantId) -> Result<()> {
        for endpoint in self.webhooks.endpoints(owner).await? {
            self.webhooks.remove(owner, &endpoint.id).await?;
        }
        self.webhooks.unsubscribe(owner, None).await
    }

    /// The entry of the instance's audit trail about work of an erasure.
    fn erasure_entry(&self, hosted: &HostedOrganisation, work: ErasureWork) -> Act {
        let act = match work {
            ErasureWork::Remove => "ERASE /organisations/{name}",
            ErasureWork::Close => "CLOSE /organisations/{name}",
            ErasureWork::Destroy => "DESTROY /organisations/{name}",
        };
        Act {
            organisation: OrganisationName::main(),
            actor: AuditedActor::instance(),
            act: act.to_owned(),
            object: Some(hosted.name.to_string()),
            detail: None,
            from: None,
        }
    }
}
