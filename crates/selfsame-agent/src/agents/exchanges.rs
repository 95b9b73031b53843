//! What controllers do with exchanges, whatever their protocol.

use std::sync::Arc;

use selfsame_agent_view::exchange::Depth;
use selfsame_agent_view::seen::{ExchangeSight, IssuingStanding, SeenExchange, role_name};
use selfsame_anoncreds_wallet::single_use::{HandleAct, UsedUp};
use selfsame_aries::advance::Outset;
use selfsame_aries::exchange::Course as _;
use selfsame_core::dids::Author;
use selfsame_core::machine::{At, Machine as _};
use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::{Message, Version};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::wishes::{ExchangeBegin, Wishes};
use selfsame_store::{Batch, Record, Tag, TenantId};
use serde_json::Value;

use super::Agents;
use crate::exchanges::issuing::IssuingProtocol;
use crate::exchanges::proving::ProvingProtocol;
use crate::exchanges::{
    CONNECTION, ExchangeEntry, ExchangeGiven, ExchangeProtocol, Ground, KeptCourse, THREAD,
};
use crate::machine::{AgentProtocol as _, ProtocolMachine};

/// The exchanges of one protocol.
#[derive(Clone, Copy)]
pub struct Exchanges<'a, P: ExchangeProtocol> {
    agents: &'a Agents,
    machine: &'a Arc<ProtocolMachine<P>>,
    /// The major version that all of them have; `None` for any.
    major: Option<u16>,
}

/// Which exchanges a list has; what is missing may be anything.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExchangeFilter {
    /// The connection.
    pub connection_id: Option<String>,
    /// The thread.
    pub thread_id: Option<String>,
    /// Who this agent is, by the role's name in the RFC.
    pub role: Option<String>,
    /// The state's name in the RFC.
    pub state: Option<String>,
}

impl Agents {
    /// The issuing of credentials.
    #[must_use]
    pub fn issuing(&self) -> Exchanges<'_, IssuingProtocol> {
        Exchanges {
            agents: self,
            machine: &self.issuing,
            major: None,
        }
    }

    /// The presenting of proofs.
    #[must_use]
    pub fn proving(&self) -> Exchanges<'_, ProvingProtocol> {
        Exchanges {
            agents: self,
            machine: &self.proving,
            major: None,
        }
    }
}

impl Exchanges<'_, IssuingProtocol> {
    /// How an issuing stands; `None` if it does not exist.
    ///
    /// # Errors
    /// The store's.
    pub async fn standing(&self, tenant: &TenantId, id: &str) -> Result<Option<IssuingStanding>> {
        let store = &self.agents.parts.shared.store;
        let records = self.machine.records();
        let kind = IssuingProtocol::KIND;
        let found = records.find(store, tenant, kind, id).await?;
        let Some((entry, version)) = found else {
            return Ok(None);
        };
        let standing = entry.exchange.as_ref().map(|exchange| IssuingStanding {
            state: exchange.state,
            error: exchange.dialogue.error_msg.clone(),
            rev_reg_id: entry.details.rev_reg_id.clone(),
            cred_rev_id: entry.details.cred_rev_id,
        });
        records.keep(version, entry);
        Ok(standing)
    }
}

impl Exchanges<'_, ProvingProtocol> {
    /// Uses up the credential whose handle the peer has shown, or revokes it on its issuer's behalf, as `author`.
    ///
    /// # Errors
    /// `NotFound` if there is no such exchange; `Conflict` if no presentation was verified in it; as
    /// [`selfsame_anoncreds_wallet::AnonCreds::use_up`].
    pub async fn use_up(&self, author: &Author, id: &str, act: HandleAct) -> Result<UsedUp> {
        let (entry, version) = self.found(&author.tenant, id).await?;
        let unverified = || Error::new(ErrorKind::Conflict, "aries-nothing-verified");
        let proof = entry.verified_proof().ok_or_else(unverified)?;
        let anoncreds = self.agents.anoncreds();
        let used = anoncreds.use_up(author, proof, act).await?;
        self.machine.records().keep(version, entry);
        Ok(used)
    }
}

impl<P: ExchangeProtocol> Exchanges<'_, P> {
    /// Those of this major version of the protocol alone.
    #[must_use]
    pub fn in_version(self, major: u16) -> Self {
        Self {
            major: Some(major),
            ..self
        }
    }

    /// Begins an exchange. A connection that is not ready is waited for.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection, `Forbidden` if it does not become ready in time; those of what is
    /// made for the first message.
    pub async fn begin(
        &self,
        tenant: &TenantId,
        begin: &ExchangeBegin,
        what: P::What,
    ) -> Result<Value> {
        let given = ExchangeGiven::act(what, self.outset(tenant, begin).await?);
        let ctx = self.agents.parts.shared.clock.ctx();
        let entry = ExchangeEntry::default();
        let begun = self.machine.start(tenant, entry, given, &ctx).await?;
        let shown = begun.outcome.and_then(|outcome| outcome.shown);
        shown.ok_or_else(|| Error::internal("a new thread has no record yet"))
    }

    /// Begins the exchange that belongs to this seed, once: a second call finds it begun. Returns its identifier.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub async fn begin_once(
        &self,
        tenant: &TenantId,
        begin: &ExchangeBegin,
        what: P::What,
        seed: [u8; 32],
    ) -> Result<String> {
        let given = ExchangeGiven::told(what, self.outset(tenant, begin).await?);
        let ctx = Ctx::new(self.agents.parts.shared.clock.now(), seed);
        let entry = ExchangeEntry::default();
        Ok(self.machine.start(tenant, entry, given, &ctx).await?.id)
    }

    /// What a new exchange begins with.
    async fn outset(&self, tenant: &TenantId, begin: &ExchangeBegin) -> Result<Ground> {
        let way = match &begin.connection_id {
            Some(id) => Some(self.agents.ready_way(tenant, id).await?),
            None => None,
        };
        let auto_remove = self.agents.removes(tenant, begin.wishes.auto_remove);
        Ok(Ground {
            way,
            outset: Some(Outset {
                kind: MessageType::new(P::Course::PROTOCOL, Semver::new(begin.major, 0), "first"),
                connection_id: begin.connection_id.clone(),
                parent_thread_id: None,
            }),
            connection_id: None,
            wishes: Wishes {
                auto_remove: Some(auto_remove),
                ..begin.wishes
            },
        })
    }

    /// Takes a step of an exchange.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if its state does not allow it; those of what is made for it.
    pub async fn act(&self, tenant: &TenantId, id: &str, what: P::What) -> Result<Value> {
        let (entry, version) = self.found(tenant, id).await?;
        let connection = entry.connection_id().map(str::to_owned);
        let alone = entry.alone.clone();
        self.machine.records().keep(version, entry);
        let way = match connection {
            Some(connection) => Some(self.agents.ready_way(tenant, &connection).await?),
            None => alone,
        };
        let ground = Ground {
            way,
            ..Ground::default()
        };
        let given = ExchangeGiven::act(what, ground);
        let outcome = self.machine.give(At { tenant, id }, given).await?;
        let unshown = || Error::internal("a step shows its record");
        outcome.shown.ok_or_else(unshown)
    }

    /// An exchange.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn one(&self, tenant: &TenantId, id: &str) -> Result<Value> {
        let (entry, version) = self.found(tenant, id).await?;
        let shown = entry.shown(Depth::Messages);
        self.machine.records().keep(version, entry);
        Ok(shown)
    }

    /// The exchanges that fit, newest first. Those of a connection or of a thread are found by an index.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn list(
        &self,
        tenant: &TenantId,
        filter: &ExchangeFilter,
        paging: &Paging,
    ) -> Result<Listing<Value>> {
        let limit = paging.limit();
        let (mut items, mut next) = (Vec::new(), paging.clone());
        loop {
            let records = self.page(tenant, filter, &next).await?;
            for record in records.iter().take(limit) {
                let entry: ExchangeEntry<P::Course> = decode(&record.value)?;
                if self.has(&entry) && filter.fits(&entry) {
                    items.push(entry.shown(Depth::Messages));
                }
                next.after = Some(record.cursor());
                if items.len() >= limit {
                    break;
                }
            }
            if records.len() <= limit {
                let next = next.after.filter(|_| items.len() >= limit);
                return Ok(Listing { items, next });
            }
            if items.len() >= limit {
                let next = next.after;
                return Ok(Listing { items, next });
            }
        }
    }

    /// An exchange with its messages, for pages.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn seen(&self, tenant: &TenantId, id: &str) -> Result<SeenExchange> {
        let (entry, version) = self.found(tenant, id).await?;
        let exchange = entry.exchange.as_ref();
        let seen = exchange.map(|exchange| SeenExchange::of(id, exchange));
        self.machine.records().keep(version, entry);
        seen.ok_or_else(|| Error::not_found("exchange-absent"))
    }

    /// Those among the next exchanges that fit, newest first. A page can be empty although more follow.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn seen_among(
        &self,
        tenant: &TenantId,
        filter: &ExchangeFilter,
        paging: &Paging,
    ) -> Result<Listing<ExchangeSight>> {
        let records = self.page(tenant, filter, paging).await?;
        let listed = listing(&records, paging, |record| {
            let entry: ExchangeEntry<P::Course> = decode(&record.value)?;
            let is_wanted = self.has(&entry) && filter.fits(&entry);
            let exchange = entry.exchange.filter(|_| is_wanted);
            Ok(exchange.map(|exchange| ExchangeSight::of(&record.id, &exchange)))
        })?;
        let items = listed.items.into_iter().flatten().collect();
        Ok(Listing {
            items,
            next: listed.next,
        })
    }

    /// The connection of an exchange; `None` if there is no such exchange, or it has none.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn connection_of(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Option<String>> {
        let store = &self.agents.parts.shared.store;
        let records = self.machine.records();
        let Some((entry, version)) = records.find(store, tenant, P::KIND, id).await? else {
            return Ok(None);
        };
        let connection = entry.connection_id().map(str::to_owned);
        records.keep(version, entry);
        Ok(connection)
    }

    /// The first message of an exchange that goes with an invitation.
    ///
    /// # Errors
    /// `NotFound` if there is no such exchange, or it began on a connection.
    pub async fn unsent(&self, tenant: &TenantId, id: &str) -> Result<Message> {
        let (entry, version) = self.found(tenant, id).await?;
        let unsent = entry.unsent.as_ref().and_then(Value::as_object).cloned();
        self.machine.records().keep(version, entry);
        let unsent = unsent.ok_or_else(|| Error::not_found("exchange-absent"))?;
        Message::from_members(unsent, Version::V1).map_err(Error::internal)
    }

    /// With the removal of an exchange, whether there is one or not.
    #[must_use]
    pub fn removing(&self, batch: Batch, id: &str) -> Batch {
        batch.delete(P::KIND, id)
    }

    /// Removes an exchange.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn remove(&self, tenant: &TenantId, id: &str) -> Result<()> {
        self.found(tenant, id).await?;
        let batch = self.removing(Batch::new(tenant.clone()), id);
        self.agents.parts.shared.store.commit(batch).await?;
        Ok(())
    }

    /// Whether an exchange is among them.
    fn has(&self, entry: &P::Entry) -> bool {
        self.major.is_none() || self.major == entry.major()
    }

    /// The next page of those that an index finds.
    async fn page(
        &self,
        tenant: &TenantId,
        filter: &ExchangeFilter,
        paging: &Paging,
    ) -> Result<Vec<Record>> {
        let (store, page) = (&self.agents.parts.shared.store, page(paging));
        Ok(match filter.tag() {
            Some(tag) => store.find(tenant, P::KIND, &tag, &page).await?,
            None => store.list(tenant, P::KIND, &page).await?,
        })
    }

    /// The record of an exchange.
    async fn found(&self, tenant: &TenantId, id: &str) -> Result<(ExchangeEntry<P::Course>, u64)> {
        let store = &self.agents.parts.shared.store;
        let records = self.machine.records();
        let found = records.find(store, tenant, P::KIND, id).await?;
        let found = found.filter(|(entry, _)| !entry.is_ended && self.has(entry));
        found.ok_or_else(|| Error::not_found("exchange-absent"))
    }
}

impl ExchangeFilter {
    /// The index that finds the fewest.
    fn tag(&self) -> Option<Tag> {
        let thread = self.thread_id.as_ref();
        let thread = thread.map(|id| Tag::hashed(THREAD, id));
        let connection = self.connection_id.as_ref();
        thread.or_else(|| connection.map(|id| Tag::hashed(CONNECTION, id)))
    }

    fn fits<C: KeptCourse>(&self, entry: &ExchangeEntry<C>) -> bool {
        let Some(exchange) = entry.exchange.as_ref().filter(|_| !entry.is_ended) else {
            return false;
        };
        let wanted =
            |wanted: &Option<String>, is: Option<&str>| wanted.is_none() || wanted.as_deref() == is;
        wanted(&self.connection_id, entry.connection_id())
            && wanted(&self.thread_id, Some(entry.thread_id()))
            && wanted(&self.role, Some(&role_name(exchange.role)))
            && wanted(&self.state, Some(C::state(exchange)))
    }
}
