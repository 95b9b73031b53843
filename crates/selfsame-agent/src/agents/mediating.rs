//! Mediation for other agents (RFC 0211), and the forwards (RFC 0094) that come for them.

use selfsame_aries::coordinate_mediation::MediationMessage;
use selfsame_aries::wire::Incoming;
use selfsame_core::events::{Event, EventKind};
use selfsame_core::machine::Machine as _;
use selfsame_didcomm::forward::Forward;
use selfsame_driver::Result;
use selfsame_mediation::destination::delivery;
use selfsame_mediation::error::unreadable;
use selfsame_mediation::grants::{
    MediationDecision, MediationEffects, MediationGrants, MediationPlace, MediationView,
};
use selfsame_mediation::mailbox::Mailbox;
use selfsame_mediation::queue::NewEnvelope;
use selfsame_store::{Batch, TenantId};
use serde_json::json;

use super::Agents;
use super::inbound::{Inbound, incoming, unknown};
use crate::connections::{Aside, ConnectionWhat, Connections};
use crate::machine::AgentProtocol as _;
use selfsame_mediation::notice::{Told, Untold};
use selfsame_mediation::taken::SentMessage;

impl Agents {
    pub(super) async fn take_mediation(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let message: Incoming<MediationMessage> = incoming(&inbound.message)?;
        let terms = self.parts.terms(&inbound.tenant);
        let place = MediationPlace {
            tenant: &inbound.tenant,
            connection_id: &found.id,
            endpoint: &terms.endpoint,
            terms: &terms.mediation,
        };
        let effects = self.grants().take(place, &message).await?;
        self.hear(&inbound.tenant, found, aside(effects)).await
    }

    /// Passes an envelope on to the one for whom this agent mediates.
    pub(super) async fn take_forward(&self, inbound: &Inbound) -> Result<()> {
        let read = Forward::read(&inbound.message).map_err(|error| unreadable(&error))?;
        let forward = read.ok_or_else(|| unreadable(&"the message is no forward"))?;
        let (tenant, mediation) = (&inbound.tenant, &self.parts.mediation);
        let passed = mediation.passed_on(tenant, &inbound.recipient, forward);
        let passed = passed.await?;
        let (shared, records) = (&self.parts.shared, self.connections.records());
        let id = passed.connection_id;
        let found = records.find(&shared.store, tenant, Connections::KIND, &id);
        let (entry, version) = found.await?.ok_or_else(unknown)?;
        let peer = entry.peer_at.clone().ok_or_else(unknown)?;
        records.keep(version, entry);
        let (mut batch, mut events) = (Batch::new(tenant.clone()), Vec::new());
        let ctx = shared.clock.ctx();
        let status = match &peer.endpoint {
            Some(endpoint) => {
                let read = selfsame_didcomm::version(&passed.envelope);
                let version = read.map_err(|error| unreadable(&error))?;
                let call = delivery(endpoint.clone(), passed.envelope, version);
                batch =
                    batch.enqueue(call.entry(Connections::KIND, &id, &peer.peer(), ctx.now())?);
                "queued_for_delivery"
            }
            None => {
                let new = NewEnvelope {
                    mailbox: Mailbox::OfConnection(id.clone()),
                    to: passed.key.clone(),
                    thread: None,
                    envelope: passed.envelope,
                };
                let terms = self.parts.terms(tenant).mediation;
                let queued = mediation.queue.add(tenant, new, &terms).await?;
                batch = batch.and(queued.batch);
                events.push(queued.event);
                "waiting_for_pickup"
            }
        };
        if self.parts.is_heard(tenant) {
            let payload = json!({
                "connection_id": id,
                "status": status,
                "recipient_key": passed.key.to_base58(),
            });
            let notice = Untold::default().note(&id, &ctx);
            batch = batch.put(Told::new("forward", &payload).put(&notice, ctx.now())?);
            events.push(Event::new(EventKind::AgentNotice, notice));
        }
        let committed = shared.events.commit_all(batch, &events).await?;
        if !committed.outbox.is_empty() {
            let sent = SentMessage {
                record: id,
                peer: peer.peer(),
            };
            self.connections
                .deliver(tenant, &committed.outbox, vec![sent]);
        }
        Ok(())
    }

    /// Whom the agents mediate for.
    #[must_use]
    pub fn grants(&self) -> &MediationGrants {
        &self.parts.mediation.grants
    }

    /// Grants or denies a mediation, and tells the peer.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if its state does not allow it.
    pub async fn decide_mediation(
        &self,
        tenant: &TenantId,
        id: &str,
        decision: MediationDecision,
    ) -> Result<MediationView> {
        let grants = self.grants();
        let view = grants.show(tenant, id).await?;
        let terms = self.parts.terms(tenant);
        let place = MediationPlace {
            tenant,
            connection_id: &view.connection_id,
            endpoint: &terms.endpoint,
            terms: &terms.mediation,
        };
        let effects = grants.decide(place, decision).await?;
        let heard = ConnectionWhat::Heard(aside(effects));
        self.give_connection(tenant, &view.connection_id, heard)
            .await?;
        grants.show(tenant, id).await
    }
}

fn aside(effects: MediationEffects) -> Aside {
    Aside {
        answers: effects.answers,
        writes: Some(effects.writes),
        tell: effects.tell,
    }
}
