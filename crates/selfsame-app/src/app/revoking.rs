//! Revocation as controllers ask for it: they hear of each credential, and holders are notified once the ledger has it.

use selfsame_agent::connect::RevocationNotification;
use selfsame_anoncreds_wallet::{IssuanceState, IssuanceView, PlacesByRegistry};
use selfsame_core::events::{Event, EventKind};
use selfsame_core::notice::Told;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::{ErrorKind, Result};
use selfsame_mediation::beside::BesideFormat as _;
use selfsame_openid::view::issuer::CredentialStatus;
use selfsame_store::{Batch, Put, TenantId};
use serde::{Deserialize, Serialize};

use super::{App, receiver_of};

/// The topic of the webhooks about credentials that can be revoked.
const TOPIC: &str = "issuer_cred_rev";

/// The kind of the notifications that wait until the credential is revoked.
const WAITING: &str = "aries_revocation_notice";

/// The place of an issued credential in a revocation registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct IssuedPlace {
    /// The registry.
    pub rev_reg_id: String,
    /// The index there.
    pub cred_rev_id: u32,
}

/// A notification that waits until the credential is revoked.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WaitingNotification {
    /// The connection of the holder.
    pub connection_id: String,
    /// Where the credential is.
    pub place: IssuedPlace,
    /// What is sent.
    pub notification: RevocationNotification,
}

impl IssuedPlace {
    /// The identifier of the record of what waits for its revocation.
    fn id(&self) -> String {
        let named = format!("{}\0{}", self.rev_reg_id, self.cred_rev_id);
        hex_encode(&hash::sha256(named.as_bytes()))
    }
}

impl App {
    /// Revokes the credential that an exchange issued as a JWT: its status list shows it within a second. Returns whether
    /// the exchange issued one.
    ///
    /// # Errors
    /// `Conflict` if its type rules revocation out; the store's.
    pub async fn revoke_jwt(&self, tenant: &TenantId, exchange: &str) -> Result<bool> {
        let shown = match self.agents.issuing().one(tenant, exchange).await {
            Ok(shown) => shown,
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let issued = &shown["detail"][self.dif().name()]["cred_id_stored"];
        let Some(id) = issued.as_str().filter(|_| shown["role"] == "issuer") else {
            return Ok(false);
        };
        let issuer = self.agent_issuer(tenant).await?;
        issuer.set_status(id, CredentialStatus::Revoked).await?;
        Ok(true)
    }

    /// Revokes a credential: at once, or when the pending ones are published.
    ///
    /// # Errors
    /// Those of [`selfsame_anoncreds_wallet::AnonCreds::revoke`].
    pub async fn revoke_anoncreds(
        &self,
        tenant: &TenantId,
        place: &IssuedPlace,
        publish: bool,
    ) -> Result<()> {
        let IssuedPlace {
            rev_reg_id,
            cred_rev_id,
        } = place;
        let anoncreds = self.agents.anoncreds();
        anoncreds
            .revoke(tenant, rev_reg_id, *cred_rev_id, publish)
            .await?;
        match publish {
            true => self.tell_revoked(tenant, vec![place.clone()]).await,
            false => Ok(()),
        }
    }

    /// Publishes pending revocations, named as in [`selfsame_anoncreds_wallet::AnonCreds::publish_revocations`].
    ///
    /// # Errors
    /// Those of that function.
    pub async fn publish_anoncreds_revocations(
        &self,
        tenant: &TenantId,
        of: &PlacesByRegistry,
    ) -> Result<PlacesByRegistry> {
        let anoncreds = self.agents.anoncreds();
        let published = anoncreds.publish_revocations(tenant, of).await?;
        let places = published.iter().flat_map(|(registry, places)| {
            places.iter().map(|index| IssuedPlace {
                rev_reg_id: registry.clone(),
                cred_rev_id: *index,
            })
        });
        self.tell_revoked(tenant, places.collect()).await?;
        Ok(published)
    }

    /// Has a holder notified once the credential is revoked.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; the store's.
    pub async fn notify_once_revoked(
        &self,
        tenant: &TenantId,
        waiting: &WaitingNotification,
    ) -> Result<()> {
        self.agents
            .connection(tenant, &waiting.connection_id)
            .await?;
        let put = Put::new(WAITING, waiting.place.id(), encode(waiting)?);
        let batch = Batch::new(tenant.clone()).put(put);
        self.shared.store.commit(batch).await?;
        Ok(())
    }

    /// Tells controllers of credentials that were revoked, and notifies the holders who are to be notified.
    async fn tell_revoked(&self, tenant: &TenantId, places: Vec<IssuedPlace>) -> Result<()> {
        let owner = receiver_of(tenant);
        if owner.is_some_and(|owner| self.webhooks.hearers().hears(&owner)) {
            for place in &places {
                if let Some(issued) = self.issued_at(tenant, place).await? {
                    self.tell_issued(tenant, &issued).await?;
                }
            }
        }
        self.notify_revoked_ones(tenant).await
    }

    /// Tells controllers of an issued credential as it is now.
    async fn tell_issued(&self, tenant: &TenantId, issued: &IssuanceView) -> Result<()> {
        let ctx = self.shared.clock.ctx();
        let place = IssuedPlace {
            rev_reg_id: issued.rev_reg_id.clone(),
            cred_rev_id: issued.cred_rev_id,
        };
        let random = hex_encode(&ctx.random::<16>("agent/revoked"));
        let notice = format!("{}.{random}", place.id());
        let put = Told::new(TOPIC, &issued.record()).put(&notice, ctx.now())?;
        let event = Event::new(EventKind::AgentNotice, notice);
        let batch = Batch::new(tenant.clone()).put(put);
        self.shared.events.commit(batch, event).await?;
        Ok(())
    }

    /// Sends the notifications of credentials that are revoked by now. Those of credentials that are not to be revoked
    /// any more are dropped.
    async fn notify_revoked_ones(&self, tenant: &TenantId) -> Result<()> {
        let store = &self.shared.store;
        let waiting: Vec<WaitingNotification> =
            all(store, tenant, WAITING, |stored| decode(&stored.value)).await?;
        for one in waiting {
            let issued = self.issued_at(tenant, &one.place).await?;
            match issued.map(|issued| issued.state) {
                Some(IssuanceState::Pending) => continue,
                Some(IssuanceState::Revoked) => self.notify_waiting(tenant, &one).await,
                Some(IssuanceState::Issued) | None => {}
            }
            let batch = Batch::new(tenant.clone()).delete(WAITING, &one.place.id());
            store.commit(batch).await?;
        }
        Ok(())
    }

    /// The credential is revoked, whether its holder can be notified or not.
    async fn notify_waiting(&self, tenant: &TenantId, waiting: &WaitingNotification) {
        let WaitingNotification {
            connection_id,
            notification,
            ..
        } = waiting;
        let sent = self
            .agents
            .notify_revoked(tenant, connection_id, notification.clone());
        if let Err(error) = sent.await {
            tracing::warn!(%error, connection = connection_id, "a holder is not notified of a revocation");
        }
    }

    async fn issued_at(
        &self,
        tenant: &TenantId,
        place: &IssuedPlace,
    ) -> Result<Option<IssuanceView>> {
        let anoncreds = self.agents.anoncreds();
        let found = anoncreds.issuance_at(tenant, &place.rev_reg_id, place.cred_rev_id);
        match found.await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
