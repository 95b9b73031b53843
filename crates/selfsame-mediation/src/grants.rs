//! Mediation for other agents (RFC 0211), as the mediator: who asked for it, who is granted it, and for which keys.

use std::sync::Arc;

use selfsame_aries::advance::{Advance, Footing, Outset, Problem};
use selfsame_aries::coordinate_mediation::{
    KeyPage, KeyUpdate, KeyUpdated, MediationAct, MediationInput, MediationMessage,
    MediationRecord, MediationState, PageLeft, step,
};
use selfsame_aries::key::VerKey;
use selfsame_aries::wire::Incoming;
use selfsame_core::Shared;
use selfsame_core::notice::Told;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_didcomm::Message;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Page, Put, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use crate::error::refused;
use crate::keys;
use crate::mailbox::Mailbox;
use crate::mediated::{self, Keylist};
use crate::queue::EnvelopeQueue;
use crate::terms::MediationTerms;

mod view;

pub use view::{KeylistView, MediationView};

/// The kind of the records of mediation.
const MEDIATION: &str = "aries_mediation";
/// Keys of one answer to a question for them.
const KEYS_ANSWERED: usize = 1_000;
/// Records read at a time.
const READ_AT_ONCE: usize = 200;

/// Whom the agents of a process mediate for. Clones are the same.
#[derive(Clone)]
pub struct MediationGrants {
    shared: Arc<Shared>,
    queue: EnvelopeQueue,
}

/// A mediation as it is kept, one for each connection.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct MediationEntry {
    /// What the protocol knows of it.
    record: MediationRecord,
    /// The key that messages for its keys are wrapped for. Each connection has one of its own: who sends through this
    /// agent does not see whether two recipients share it.
    routing_key: Option<VerKey>,
    /// How many keys it has.
    keys: u32,
}

/// A mediation with its version.
struct FoundMediation {
    entry: MediationEntry,
    version: u64,
}

/// The connection on which somebody speaks of mediation.
#[derive(Clone, Copy, Debug)]
pub struct MediationPlace<'a> {
    /// The agent.
    pub tenant: &'a TenantId,
    /// The connection.
    pub connection_id: &'a str,
    /// Where the agent takes messages.
    pub endpoint: &'a Url,
    /// How far it mediates.
    pub terms: &'a MediationTerms,
}

/// What follows from a message or an act.
pub struct MediationEffects {
    /// The answers to the peer.
    pub answers: Vec<Message>,
    /// What is written.
    pub writes: Batch,
    /// What controllers are told.
    pub tell: Vec<Told>,
}

/// What a controller decides.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MediationDecision {
    /// Mediation is granted.
    Grant,
    /// It is denied, or ended.
    Deny,
}

/// Which mediations are listed.
#[derive(Clone, Debug, Default)]
pub struct MediationFilter {
    /// Those of this connection.
    pub connection_id: Option<String>,
    /// Those in this state.
    pub state: Option<String>,
    /// How many are left out at the beginning.
    pub offset: usize,
    /// How many are returned at most.
    pub limit: usize,
}

impl MediationGrants {
    /// The mediations in these records.
    pub fn new(shared: Arc<Shared>, queue: EnvelopeQueue) -> Self {
        Self { shared, queue }
    }

    /// Takes a message of the protocol.
    ///
    /// # Errors
    /// The refusal of the protocol; the store's.
    pub async fn take(
        &self,
        place: MediationPlace<'_>,
        message: &Incoming<MediationMessage>,
    ) -> Result<MediationEffects> {
        let found = self.find(place.tenant, place.connection_id).await?;
        match &message.content {
            MediationMessage::Request => self.requested(place, found, message),
            MediationMessage::Update(updates) => {
                let found = found.ok_or_else(ungranted)?;
                self.updated(place, found, &KeyChanges { message, updates })
                    .await
            }
            MediationMessage::Query(page) => {
                let found = found.ok_or_else(ungranted)?;
                self.asked(
                    place,
                    found,
                    &KeyQuestion {
                        message,
                        page: *page,
                    },
                )
                .await
            }
            _ => Err(refused(&Problem::wrong_state())),
        }
    }

    /// Decides on a mediation.
    ///
    /// # Errors
    /// `NotFound` if this connection has no such grant; `Conflict` if its state does not allow it; the store's.
    pub async fn decide(
        &self,
        place: MediationPlace<'_>,
        decision: MediationDecision,
    ) -> Result<MediationEffects> {
        let found = self.find(place.tenant, place.connection_id).await?;
        let FoundMediation { entry, version } = found.ok_or_else(absent)?;
        let (ctx, expect) = (self.shared.clock.ctx(), Expect::Version(version));
        match decision {
            MediationDecision::Grant => {
                let granted = self.granted(place, entry, &ctx)?;
                kept(place, granted, expect)
            }
            MediationDecision::Deny => {
                let keys = mediated::of_connection(&self.shared, place.tenant, place.connection_id);
                let keys = keys.await?;
                let advance = stepped(&entry.record, MediationAct::Deny, &ctx)?;
                let mut denied = DecidedMediation::of(place, entry, advance);
                denied.entry.keys = 0;
                denied.writes = mediated::removed(denied.writes, &keys);
                kept(place, denied, expect)
            }
        }
    }

    /// Whether the agent mediates for the peer of this connection.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_granted(&self, tenant: &TenantId, connection_id: &str) -> Result<bool> {
        let found = self.find(tenant, connection_id).await?;
        Ok(found.is_some_and(|found| found.entry.record.state == MediationState::Granted))
    }

    /// The removal of all that belongs to the mediation of a connection.
    ///
    /// # Errors
    /// The store's.
    pub async fn forgotten(&self, tenant: &TenantId, connection_id: &str) -> Result<Batch> {
        let keys = mediated::of_connection(&self.shared, tenant, connection_id).await?;
        let mailbox = Mailbox::OfConnection(connection_id.to_owned());
        let batch = self.queue.emptied(tenant, &mailbox).await?;
        let batch = batch.delete(MEDIATION, &mediation_id(connection_id));
        Ok(mediated::removed(batch, &keys))
    }

    /// A mediation asked for: a new one, or one that was there. It has the same keys then.
    fn requested(
        &self,
        place: MediationPlace<'_>,
        found: Option<FoundMediation>,
        message: &Incoming<MediationMessage>,
    ) -> Result<MediationEffects> {
        let known = found.as_ref().map(|found| &found.entry);
        if known.is_some_and(|known| known.record.dialogue.thread_id == message.thread_id) {
            return Ok(MediationEffects::none(place.tenant));
        }
        let ctx = self.shared.clock.ctx();
        let outset = Outset {
            kind: message.kind.clone(),
            connection_id: Some(place.connection_id.to_owned()),
            parent_thread_id: None,
        };
        let input = MediationInput::Received(message.clone());
        let begun = step(Footing::New(&outset), &input, &ctx);
        let begun = begun.map_err(|problem| refused(&problem))?;
        let entry = MediationEntry {
            record: begun.record,
            routing_key: known.and_then(|known| known.routing_key.clone()),
            keys: known.map_or(0, |known| known.keys),
        };
        let was_granted = known.is_some_and(|known| known.record.state == MediationState::Granted);
        let expect = found.map_or(Expect::Absent, |found| Expect::Version(found.version));
        let told = entry.told(place.connection_id);
        let mut effects = match place.terms.is_open || was_granted {
            true => kept(place, self.granted(place, entry, &ctx)?, expect)?,
            false => {
                let waits = DecidedMediation {
                    entry,
                    answers: Vec::new(),
                    writes: Batch::new(place.tenant.clone()),
                };
                return kept(place, waits, expect);
            }
        };
        effects.tell.insert(0, told);
        Ok(effects)
    }

    fn granted(
        &self,
        place: MediationPlace<'_>,
        mut entry: MediationEntry,
        ctx: &Ctx,
    ) -> Result<DecidedMediation> {
        let (key, writes) = match entry.routing_key.take() {
            Some(key) => (key, Batch::new(place.tenant.clone())),
            None => keys::create(&self.shared, place.tenant)?,
        };
        let grant = MediationAct::Grant {
            endpoint: place.endpoint.to_string(),
            routing_keys: vec![key.clone()],
        };
        let advance = stepped(&entry.record, grant, ctx)?;
        entry.routing_key = Some(key);
        let granted = DecidedMediation::of(place, entry, advance);
        Ok(DecidedMediation {
            writes: writes.and(granted.writes),
            ..granted
        })
    }

    async fn updated(
        &self,
        place: MediationPlace<'_>,
        found: FoundMediation,
        changes: &KeyChanges<'_>,
    ) -> Result<MediationEffects> {
        let FoundMediation { mut entry, version } = found;
        let ctx = self.shared.clock.ctx();
        let Some(heard) = entry.heard(changes.message, &ctx)? else {
            return Ok(MediationEffects::none(place.tenant));
        };
        let keylist = Keylist {
            shared: &self.shared,
            tenant: place.tenant,
            connection_id: place.connection_id,
            routing_key: &heard,
        };
        let changed = keylist.change(changes.updates, entry.keys, place.terms.keys);
        let changed = changed.await?;
        let told = keylist_told(place.connection_id, changes.message, &changed.updated);
        let act = MediationAct::Updated {
            thread_id: changes.message.thread_id.clone(),
            updated: changed.updated,
        };
        let advance = stepped(&entry.record, act, &ctx)?;
        entry.keys = changed.count;
        let answered = DecidedMediation::of(place, entry, advance);
        let answered = DecidedMediation {
            writes: answered.writes.and(changed.writes),
            ..answered
        };
        let effects = kept(place, answered, Expect::Version(version))?;
        Ok(MediationEffects {
            tell: vec![told],
            ..effects
        })
    }

    async fn asked(
        &self,
        place: MediationPlace<'_>,
        found: FoundMediation,
        question: &KeyQuestion<'_>,
    ) -> Result<MediationEffects> {
        let FoundMediation { mut entry, .. } = found;
        let ctx = self.shared.clock.ctx();
        entry.heard(question.message, &ctx)?;
        let keys = mediated::of_connection(&self.shared, place.tenant, place.connection_id);
        let keys: Vec<VerKey> = keys.await?.into_iter().map(|one| one.key.key).collect();
        let act = question.answer(keys);
        let advance = stepped(&entry.record, act, &ctx)?;
        Ok(MediationEffects {
            answers: advance.send.into_iter().map(|sent| sent.message).collect(),
            ..MediationEffects::none(place.tenant)
        })
    }

    async fn find(&self, tenant: &TenantId, connection_id: &str) -> Result<Option<FoundMediation>> {
        let id = mediation_id(connection_id);
        let found = self.shared.store.read(tenant, MEDIATION, &id).await?;
        let read = found.map(|record| {
            Ok(FoundMediation {
                entry: decode(&record.value)?,
                version: record.version,
            })
        });
        read.transpose()
    }

    /// The mediations that fit, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(
        &self,
        tenant: &TenantId,
        filter: &MediationFilter,
    ) -> Result<Vec<MediationView>> {
        let store = &self.shared.store;
        let (mut views, mut left_out) = (Vec::new(), 0_usize);
        let mut page = Page::first(READ_AT_ONCE);
        loop {
            let records = store.list(tenant, MEDIATION, &page).await?;
            for record in &records {
                let view = MediationView::of(&record.id, &decode(&record.value)?);
                if !filter.fits(&view) {
                    continue;
                }
                if left_out < filter.offset {
                    left_out = left_out.saturating_add(1);
                    continue;
                }
                if views.len() >= filter.limit {
                    return Ok(views);
                }
                views.push(view);
            }
            match records.last() {
                Some(last) if records.len() == READ_AT_ONCE => page.after = Some(last.cursor()),
                _ => return Ok(views),
            }
        }
    }

    /// A mediation.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn show(&self, tenant: &TenantId, id: &str) -> Result<MediationView> {
        let found = self.shared.store.read(tenant, MEDIATION, id).await?;
        let found = found.ok_or_else(absent)?;
        Ok(MediationView::of(id, &decode(&found.value)?))
    }

    /// Removes a mediation with its keys and what waits for them.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn remove(&self, tenant: &TenantId, id: &str) -> Result<MediationView> {
        let view = self.show(tenant, id).await?;
        let batch = self.forgotten(tenant, &view.connection_id).await?;
        self.shared.store.commit(batch).await?;
        Ok(view)
    }

    /// The keys of a connection; of all, if none is named.
    ///
    /// # Errors
    /// The store's.
    pub async fn keylists(
        &self,
        tenant: &TenantId,
        connection_id: Option<&str>,
    ) -> Result<Vec<KeylistView>> {
        let keys = match connection_id {
            Some(id) => mediated::of_connection(&self.shared, tenant, id).await?,
            None => mediated::first(&self.shared, tenant).await?,
        };
        Ok(keys.iter().map(KeylistView::of).collect())
    }
}

/// A message that changes keys.
struct KeyChanges<'a> {
    message: &'a Incoming<MediationMessage>,
    updates: &'a [KeyUpdate],
}

/// A message that asks for keys.
struct KeyQuestion<'a> {
    message: &'a Incoming<MediationMessage>,
    page: Option<KeyPage>,
}

impl KeyQuestion<'_> {
    /// The keys that are asked for.
    fn answer(&self, keys: Vec<VerKey>) -> MediationAct {
        let (offset, limit) = match self.page {
            Some(page) => (page.offset as usize, page.limit as usize),
            None => (0, KEYS_ANSWERED),
        };
        let all = keys.len();
        let some: Vec<VerKey> = keys
            .into_iter()
            .skip(offset)
            .take(limit.min(KEYS_ANSWERED))
            .collect();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let left = self.page.map(|page| PageLeft {
            count: number(some.len()),
            offset: page.offset,
            remaining: number(all.saturating_sub(offset.saturating_add(some.len()))),
        });
        MediationAct::Keys {
            thread_id: self.message.thread_id.clone(),
            keys: some,
            left,
        }
    }
}

/// A mediation after a step.
struct DecidedMediation {
    entry: MediationEntry,
    answers: Vec<Message>,
    writes: Batch,
}

impl DecidedMediation {
    fn of(
        place: MediationPlace<'_>,
        entry: MediationEntry,
        advance: Advance<MediationRecord>,
    ) -> Self {
        Self {
            entry: MediationEntry {
                record: advance.record,
                ..entry
            },
            answers: advance.send.into_iter().map(|sent| sent.message).collect(),
            writes: Batch::new(place.tenant.clone()),
        }
    }
}

impl MediationEntry {
    /// What controllers are told of its state.
    fn told(&self, connection_id: &str) -> Told {
        let view = MediationView::of(&mediation_id(connection_id), self);
        Told::new("mediation", &view)
    }

    /// Takes a message about keys, and gives the routing key; `None` if the message was taken before.
    fn heard(&mut self, message: &Incoming<MediationMessage>, ctx: &Ctx) -> Result<Option<VerKey>> {
        let input = MediationInput::Received(message.clone());
        let advance = step(Footing::Known(&self.record), &input, ctx);
        let advance = advance.map_err(|problem| refused(&problem))?;
        if advance.is_repeated {
            return Ok(None);
        }
        self.record = advance.record;
        self.routing_key.clone().map(Some).ok_or_else(ungranted)
    }
}

impl MediationEffects {
    fn none(tenant: &TenantId) -> Self {
        Self {
            answers: Vec::new(),
            writes: Batch::new(tenant.clone()),
            tell: Vec::new(),
        }
    }
}

impl MediationFilter {
    fn fits(&self, view: &MediationView) -> bool {
        let same =
            |asked: &Option<String>, own: &str| asked.as_deref().is_none_or(|asked| asked == own);
        same(&self.connection_id, &view.connection_id) && same(&self.state, view.state)
    }
}

/// The effects of a step, its record among the writes.
fn kept(
    place: MediationPlace<'_>,
    decided: DecidedMediation,
    expect: Expect,
) -> Result<MediationEffects> {
    let id = mediation_id(place.connection_id);
    let put = Put::new(MEDIATION, &id, encode(&decided.entry)?);
    let writes = decided.writes.expect(MEDIATION, &id, expect).put(put);
    Ok(MediationEffects {
        answers: decided.answers,
        tell: vec![decided.entry.told(place.connection_id)],
        writes,
    })
}

fn stepped(
    record: &MediationRecord,
    act: MediationAct,
    ctx: &Ctx,
) -> Result<Advance<MediationRecord>> {
    let step = step(Footing::Known(record), &MediationInput::Act(act), ctx);
    let advance = step.map_err(|problem| refused(&problem))?;
    match advance.is_repeated {
        // The controller decided so before.
        true => Err(refused(&Problem::wrong_state())),
        false => Ok(advance),
    }
}

/// What controllers are told of changed keys.
fn keylist_told(
    connection_id: &str,
    message: &Incoming<MediationMessage>,
    updated: &[KeyUpdated],
) -> Told {
    let updated: Vec<_> = updated
        .iter()
        .map(|one| {
            json!({
                "recipient_key": one.update.key.to_base58(),
                "action": one.update.action,
                "result": one.result,
            })
        })
        .collect();
    let payload = json!({
        "connection_id": connection_id,
        "thread_id": message.thread_id,
        "updated": updated,
    });
    Told::new("keylist", &payload)
}

/// The identifier of the mediation of a connection.
fn mediation_id(connection_id: &str) -> String {
    let digest = hash::sha256(format!("mediation {connection_id}").as_bytes());
    hex_encode(digest.get(..16).unwrap_or_default())
}

fn absent() -> Error {
    Error::not_found("aries-mediation-absent")
}

/// Who asks has no mediation.
fn ungranted() -> Error {
    refused(&Problem::wrong_state())
}
