//! What a peer can do, and what this agent tells of itself.

use selfsame_agent_view::discovery::DiscoveryView;
use selfsame_aries::advance::{Footing, Outset};
use selfsame_aries::discover_features::{
    DiscoveryInput, Feature, FeatureMessage, FeatureQuery, step,
};
use selfsame_aries::wire::{Incoming, Vocabulary as _};
use selfsame_core::machine::{At, Machine as _};
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_mediation::error::refused;
use selfsame_store::{Tag, TenantId};
use tokio::time::{Duration, Instant, sleep};

use super::Agents;
use super::inbound::{Inbound, incoming, outset};
use super::ways::way;
use crate::connections::Aside;
use crate::discovery::{DISCOVERY_CONNECTION, Discovery, DiscoveryEntry, DiscoveryGiven};
use crate::exchanges::record_id;
use crate::machine::AgentProtocol as _;
use selfsame_mediation::notice::Untold;

/// The pause between two looks for the answer.
const LOOKED_EVERY: Duration = Duration::from_millis(20);

/// A question about features.
#[derive(Clone, Debug)]
pub struct NewDiscovery {
    /// The connection; `None` for the features of this agent itself.
    pub connection_id: Option<String>,
    /// The major version of the protocol.
    pub major: u16,
    /// What is asked. Version 1 asks for protocols alone, and takes the first question.
    pub queries: Vec<FeatureQuery>,
}

impl Agents {
    /// Asks what a peer can do. The answer is waited for as long as a connection is; what is returned may lack it.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Forbidden` if it does not become ready in time.
    pub async fn discover(&self, tenant: &TenantId, new: NewDiscovery) -> Result<DiscoveryView> {
        let Some(connection_id) = new.connection_id else {
            let asked = |feature: &Feature| new.queries.iter().any(|one| one.matches(feature));
            let features = self.features().into_iter().filter(asked);
            let features: Vec<_> = features.collect();
            return Ok(DiscoveryView::own(new.major, &new.queries, &features));
        };
        let way = self.ready_way(tenant, &connection_id).await?;
        let kind = MessageType::new(
            FeatureMessage::PROTOCOL,
            Semver::new(new.major, 0),
            "queries",
        );
        let entry = DiscoveryEntry {
            record: None,
            connection_id: connection_id.clone(),
            untold: Untold::default(),
        };
        let given = DiscoveryGiven {
            what: DiscoveryInput::Ask(new.queries),
            outset: Some(Outset {
                kind,
                connection_id: Some(connection_id),
                parent_thread_id: None,
            }),
            way: Some((way.from, way.to)),
        };
        let ctx = self.parts.shared.clock.ctx();
        let begun = self.discovery.start(tenant, entry, given, &ctx).await?;
        let id = begun.id;
        let until = Instant::now() + self.parts.terms(tenant).connection_wait;
        loop {
            let view = self.discovery_record(tenant, &id).await?;
            if view.is_answered() || Instant::now() >= until {
                return Ok(view);
            }
            sleep(LOOKED_EVERY).await;
        }
    }

    /// A question.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn discovery_record(&self, tenant: &TenantId, id: &str) -> Result<DiscoveryView> {
        let store = &self.parts.shared.store;
        let records = self.discovery.records();
        let found = records.find(store, tenant, Discovery::KIND, id).await?;
        let (entry, version) = found.ok_or_else(|| Error::not_found("exchange-absent"))?;
        let view = entry.view(id);
        records.keep(version, entry);
        Ok(view)
    }

    /// The questions, newest first; those on one connection, if one is named.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn discovery_records(
        &self,
        tenant: &TenantId,
        connection_id: Option<&str>,
        paging: &Paging,
    ) -> Result<Listing<DiscoveryView>> {
        let store = &self.parts.shared.store;
        let page = page(paging);
        let stored = match connection_id {
            Some(id) => {
                let tag = Tag::hashed(DISCOVERY_CONNECTION, id);
                store.find(tenant, Discovery::KIND, &tag, &page).await?
            }
            None => store.list(tenant, Discovery::KIND, &page).await?,
        };
        listing(&stored, paging, |stored| {
            let entry: DiscoveryEntry = decode(&stored.value)?;
            Ok(entry.view(&stored.id))
        })
    }

    /// A question is answered at once and leaves nothing behind; an answer belongs to the record of its question.
    pub(super) async fn take_discovery(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let message: Incoming<FeatureMessage> = incoming(&inbound.message)?;
        let is_question = matches!(message.content, FeatureMessage::Queries(_));
        let outset = outset(&message.kind, Some(&found.id));
        let id = record_id(Some(&found.id), &message.thread_id);
        let way = way(&found.entry).map(|way| (way.from, way.to));
        let what = DiscoveryInput::Received {
            message,
            features: match inbound.v2 {
                Some(_) => selfsame_aries_v2::forms::features(),
                None => self.features(),
            },
        };
        if is_question {
            let ctx = self.parts.shared.clock.ctx();
            let advance = step(Footing::New(&outset), &what, &ctx);
            let sent = advance.map_err(|problem| refused(&problem))?.send;
            let heard = Aside {
                answers: sent.into_iter().map(|sent| sent.message).collect(),
                ..Aside::default()
            };
            return self.hear(&inbound.tenant, found, heard).await;
        }
        let given = DiscoveryGiven {
            what,
            outset: None,
            way,
        };
        let at = At {
            tenant: &inbound.tenant,
            id: &id,
        };
        self.discovery.give(at, given).await?;
        Ok(())
    }
}
