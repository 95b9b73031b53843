//! The trail in the store: entries as they are written, the chain that one background duty makes of them, searches.

use std::collections::BTreeMap;
use std::future::Future;

use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::encoding::hex_encode;
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::{Listing, Paging, at_least_one};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Page, Put, Record, Store, StoreError, Tag, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::chain::{ChainHead, ChainLink, LinkHash};
use crate::entry::{AuditEntry, AuditResult, AuditedActor, EntryHash};
use crate::export::{ExportLine, ExportPage};

/// The kinds of the records.
const ENTRY: &str = "audit_entry";
const WAITING: &str = "audit_waiting";
const LINK: &str = "audit_link";
const HEAD: &str = "audit_head";
const CURSOR: &str = "audit_cursor";
const ANCHOR: &str = "audit_anchor";
/// Entries chained in one round. A round may make a link for each of them.
const ROUND: usize = 500;
/// Links in one part of an export, and entries after which a part ends.
const PART_LINKS: usize = 200;
const PART_ENTRIES: usize = 2_000;
/// Entries that one search looks through.
const LOOKED_THROUGH: usize = 5_000;

/// An act, before it is written.
#[derive(Clone, Debug)]
pub struct Act {
    /// For which organisation.
    pub organisation: OrganisationName,
    /// Who.
    pub actor: AuditedActor,
    /// What.
    pub act: String,
    /// On which object.
    pub object: Option<String>,
    /// Which one that is, in words for people.
    pub detail: Option<String>,
    /// From which network address.
    pub from: Option<String>,
}

/// Which entries to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams, Serialize)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// Only acts of the person or key with this id or name.
    #[serde(default)]
    pub actor: Option<String>,
    /// Only acts whose text contains this.
    #[serde(default)]
    pub act: Option<String>,
    /// Only acts on an object whose id begins like this, or on a credential of this type or with this number.
    #[serde(default)]
    pub object: Option<String>,
    /// Only acts from this time on, RFC 3339 or its beginning, such as `2026-11`.
    #[serde(default)]
    pub since: Option<String>,
    /// Only acts before this time.
    #[serde(default)]
    pub until: Option<String>,
    /// The `next` of the page before.
    #[serde(default)]
    pub after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "at_least_one")]
    pub limit: Option<usize>,
}

impl AuditFilter {
    fn admits(&self, entry: &AuditEntry) -> bool {
        let is = |wanted: &Option<String>, holds: &dyn Fn(&str) -> bool| {
            let wanted = wanted.as_deref().filter(|wanted| !wanted.is_empty());
            wanted.is_none_or(holds)
        };
        is(&self.actor, &|actor| {
            entry.actor.name == actor || entry.actor.id.as_deref() == Some(actor)
        }) && is(&self.act, &|act| entry.act.contains(act))
            && is(&self.object, &|object| {
                let own = entry.object.as_deref();
                let mut words = entry.detail.iter().flat_map(|detail| detail.split(' '));
                own.is_some_and(|own| own.starts_with(object) || object.starts_with(own))
                    || words.any(|word| word == object)
            })
            && is(&self.since, &|since| entry.at.as_str() >= since)
            && is(&self.until, &|until| entry.at.as_str() < until)
    }
}

/// The audit trail of an instance.
#[derive(Clone)]
pub struct Trail {
    store: Store,
    clock: Clock,
}

/// A head that was handed to the registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ChainAnchor {
    /// When, RFC 3339.
    pub at: String,
    /// The head.
    pub head: ChainHead,
}

/// Heads to anchor.
#[derive(Clone, Debug)]
pub struct DueAnchors {
    /// The heads.
    pub heads: Vec<ChainHead>,
    /// The cursor of the next ones; `None` at the end.
    pub next: Option<String>,
}

/// Whose turn it is to chain: each round writes it.
#[derive(Default, Deserialize, Serialize)]
struct Chained {
    /// The cursor of the last entry that is in a chain, from a release that went by it.
    after: Option<String>,
}

/// An entry that waits to be chained.
#[derive(Deserialize, Serialize)]
struct WaitingEntry {
    organisation: String,
    hash: LinkHash,
}

/// The entries of one organisation that wait to be chained.
#[derive(Default)]
struct WaitingGroup {
    hashes: Vec<EntryHash>,
    ids: Vec<String>,
}

impl Trail {
    /// The trail in this store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// The write of an entry, to be part of the commit that performs the act.
    ///
    /// # Errors
    /// `Internal` if the entry can't be JSON.
    pub fn entry(&self, act: Act, result: AuditResult) -> Result<Batch> {
        let ctx = self.clock.ctx();
        let Act {
            organisation,
            actor,
            act,
            object,
            detail,
            from,
        } = act;
        let entry = AuditEntry {
            id: hex_encode(&ctx.random::<16>("audit/entry")),
            at: ctx.now().rfc3339(),
            organisation: organisation.to_string(),
            actor,
            act,
            object,
            detail,
            from,
            result,
        };
        let put =
            Put::new(ENTRY, &entry.id, encode(&entry)?).tag(of_organisation(&entry.organisation));
        Ok(Batch::new(home()).put(put).put(waiting(&entry)?))
    }

    /// Carries out an act. Its first commit writes the entry too; returns whether there was one.
    ///
    /// # Errors
    /// `Internal` if the entry can't be JSON.
    pub async fn during<F: Future>(&self, act: Act, work: F) -> Result<(F::Output, bool)> {
        self.during_all(vec![act], work).await
    }

    /// As [`Self::during`], for several acts that one commit carries out.
    ///
    /// # Errors
    /// `Internal` if an entry can't be JSON.
    pub async fn during_all<F: Future>(
        &self,
        acts: Vec<Act>,
        work: F,
    ) -> Result<(F::Output, bool)> {
        let entries = self.entries(acts, &AuditResult::Done)?;
        Ok(Store::accompanied(entries, work).await)
    }

    /// Writes an entry alone, for an act that wrote nothing.
    ///
    /// # Errors
    /// The store's.
    pub async fn write(&self, act: Act, result: AuditResult) -> Result<()> {
        let batch = self.entry(act, result)?;
        self.store.commit(batch.deferred()).await?;
        Ok(())
    }

    /// Writes entries with one result, in one commit, for acts that wrote nothing.
    ///
    /// # Errors
    /// The store's.
    pub async fn write_all(&self, acts: Vec<Act>, result: &AuditResult) -> Result<()> {
        let batch = self.entries(acts, result)?;
        self.store.commit(batch.deferred()).await?;
        Ok(())
    }

    fn entries(&self, acts: Vec<Act>, result: &AuditResult) -> Result<Batch> {
        let mut batch = Batch::new(home());
        for act in acts {
            batch = batch.and(self.entry(act, result.clone())?);
        }
        Ok(batch)
    }

    /// Chains entries that wait for it; returns how many. Of several processes, one does it.
    ///
    /// # Errors
    /// The store's.
    pub async fn chain(&self) -> Result<usize> {
        let home = home();
        let kept = self.store.read(&home, CURSOR, "").await?;
        let chained = kept.as_ref().map(|kept| decode::<Chained>(&kept.value));
        let chained = chained.transpose()?.unwrap_or_default();
        if let (Some(kept), Some(after)) = (&kept, &chained.after) {
            return self.take_up(kept, after).await;
        }
        let found = self.store.list(&home, WAITING, &Page::first(ROUND)).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let turn = encode(&Chained::default())?;
        let mut batch = Batch::new(home);
        // The expectation keeps two processes from making the same link.
        batch = match &kept {
            Some(kept) => batch.update(CURSOR, kept, turn),
            None => batch
                .expect(CURSOR, "", Expect::Absent)
                .put(Put::new(CURSOR, "", turn)),
        };
        for (organisation, waiting) in by_organisation(&found)? {
            let head = self.head_named(&organisation).await?;
            let link = ChainLink::after(&head, self.clock.now().rfc3339(), &waiting.hashes);
            let head = encode(&link.head(&head))?;
            let id = link_id(&organisation, link.number);
            let ids = waiting.ids;
            batch = (ids.iter()).fold(batch, |batch, id| batch.delete(WAITING, id));
            let kept = KeptLink { link, ids };
            batch = batch
                .put(Put::new(LINK, id, encode(&kept)?).tag(of_organisation(&organisation)))
                .put(Put::new(HEAD, organisation, head));
        }
        self.committed(batch, found.len()).await
    }

    /// Lets entries wait that a release wrote which went by a cursor; returns how many it looked at.
    async fn take_up(&self, kept: &Record, after: &str) -> Result<usize> {
        let home = home();
        let mut page = Page::first(ROUND);
        page.after = Some(after.to_owned());
        let found = self.store.list(&home, ENTRY, &page).await?;
        let mut batch = Batch::new(home.clone());
        for stored in &found {
            let waits = self.store.version(&home, WAITING, &stored.id).await?;
            if waits.is_none() {
                batch = batch.put(waiting(&decode(&stored.value)?)?);
            }
        }
        let after = found.last().map(Record::cursor);
        let batch = batch.update(CURSOR, kept, encode(&Chained { after })?);
        self.committed(batch, found.len().max(1)).await
    }

    /// Commits a round and returns its number of entries, or 0 if another process was faster.
    async fn committed(&self, batch: Batch, entries: usize) -> Result<usize> {
        match self.store.commit(batch).await {
            Ok(_) => Ok(entries),
            Err(StoreError::Conflict { .. }) => Ok(0),
            Err(other) => Err(other.into()),
        }
    }

    /// Chains all entries that wait.
    ///
    /// # Errors
    /// The store's.
    pub async fn chain_all(&self) -> Result<()> {
        while self.chain().await? > 0 {}
        Ok(())
    }

    /// The head of an organisation's chain.
    ///
    /// # Errors
    /// The store's.
    pub async fn head(&self, organisation: &OrganisationName) -> Result<ChainHead> {
        self.head_named(organisation.as_str()).await
    }

    async fn head_named(&self, organisation: &str) -> Result<ChainHead> {
        let kept = self.store.read(&home(), HEAD, organisation).await?;
        let head = kept.map(|kept| decode(&kept.value)).transpose()?;
        Ok(head.unwrap_or_else(|| ChainHead::beginning(organisation)))
    }

    /// The entries of an organisation that a filter admits, newest first. A search looks through some thousand entries
    /// and then returns a cursor to go on.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(
        &self,
        organisation: &OrganisationName,
        filter: &AuditFilter,
    ) -> Result<Listing<AuditEntry>> {
        let paging = Paging {
            after: filter.after.clone(),
            limit: filter.limit,
        };
        let (home, tag) = (home(), of_organisation(organisation.as_str()));
        let mut page = Page::newest(ROUND);
        page.after = paging.cursor().map(str::to_owned);
        let (mut items, mut looked) = (Vec::new(), 0);
        loop {
            let found = self.store.find(&home, ENTRY, &tag, &page).await?;
            for stored in &found {
                let entry: AuditEntry = decode(&stored.value)?;
                if filter.admits(&entry) {
                    items.push(entry);
                }
                looked += 1;
                if items.len() == paging.limit() || looked == LOOKED_THROUGH {
                    let next = Some(stored.cursor());
                    return Ok(Listing { items, next });
                }
            }
            match found.last().filter(|_| found.len() == ROUND) {
                Some(last) => page = page.after(last.cursor()),
                None => return Ok(Listing { items, next: None }),
            }
        }
    }

    /// A part of an organisation's trail, from the link after `after` on.
    ///
    /// # Errors
    /// `Damaged` if a link or an entry is missing; the store's.
    pub async fn export(&self, organisation: &OrganisationName, after: u64) -> Result<ExportPage> {
        let head = self.head(organisation).await?;
        let (mut lines, mut number, mut entries) = (Vec::new(), after, 0);
        let most = after.saturating_add(PART_LINKS as u64);
        while number < head.number && number < most && entries < PART_ENTRIES {
            number += 1;
            let kept = self.link(organisation, number).await?;
            entries += kept.ids.len();
            lines.push(ExportLine::Link(kept.link));
            for id in &kept.ids {
                // An entry that is gone shows in the verification, as one that is missing.
                if let Some(stored) = self.store.read(&home(), ENTRY, id).await? {
                    lines.push(ExportLine::Entry(decode(&stored.value)?));
                }
            }
        }
        let is_end = number >= head.number;
        if is_end {
            lines.push(ExportLine::Head(head));
        }
        Ok(ExportPage {
            lines,
            next: (!is_end).then_some(number),
        })
    }

    /// Some heads that have no anchor of today yet, and where to go on.
    ///
    /// # Errors
    /// The store's.
    pub async fn unanchored(&self, after: Option<&str>) -> Result<DueAnchors> {
        let mut page = Page::first(ROUND);
        page.after = after.map(str::to_owned);
        let found = self.store.list(&home(), HEAD, &page).await?;
        let today = day(&self.clock.now().rfc3339());
        let mut heads = Vec::new();
        for stored in &found {
            let head: ChainHead = decode(&stored.value)?;
            let last = self.anchors(&head.organisation, 1).await?.pop();
            let is_done =
                last.is_some_and(|last| last.head.number == head.number || day(&last.at) == today);
            if !is_done {
                heads.push(head);
            }
        }
        let is_full = found.len() == ROUND;
        let next = found.last().filter(|_| is_full).map(Record::cursor);
        Ok(DueAnchors { heads, next })
    }

    /// The write that notes the anchor of a head, to be part of the commit that hands it to the registry.
    ///
    /// # Errors
    /// `Internal` if the head can't be JSON.
    pub fn anchored(&self, head: &ChainHead) -> Result<Batch> {
        let id = link_id(&head.organisation, head.number);
        let anchor = ChainAnchor {
            at: self.clock.now().rfc3339(),
            head: head.clone(),
        };
        let put = Put::new(ANCHOR, id, encode(&anchor)?).tag(of_organisation(&head.organisation));
        Ok(Batch::new(home()).put(put))
    }

    /// The newest anchors of an organisation's chain, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn anchors(&self, organisation: &str, most: usize) -> Result<Vec<ChainAnchor>> {
        let (tag, page) = (of_organisation(organisation), Page::newest(most));
        let found = self.store.find(&home(), ANCHOR, &tag, &page).await?;
        found.iter().map(|stored| decode(&stored.value)).collect()
    }

    async fn link(&self, organisation: &OrganisationName, number: u64) -> Result<KeptLink> {
        let id = link_id(organisation.as_str(), number);
        let kept = self.store.read(&home(), LINK, &id).await?;
        let missing = || {
            tracing::error!(link = id, "a link of the audit trail is missing");
            Error::new(ErrorKind::Damaged, "data-damaged")
        };
        decode(&kept.ok_or_else(missing)?.value)
    }
}

/// A link with the ids of its entries, as kept.
#[derive(Deserialize, Serialize)]
struct KeptLink {
    link: ChainLink,
    ids: Vec<String>,
}

/// The record by which an entry waits to be chained. It is written in the commit of the entry: of several processes, one
/// may commit an entry after another process has chained later ones.
fn waiting(entry: &AuditEntry) -> Result<Put> {
    let waits = WaitingEntry {
        organisation: entry.organisation.clone(),
        hash: LinkHash(entry.hash()),
    };
    Ok(Put::new(WAITING, &entry.id, encode(&waits)?))
}

/// Entries in their order, those of each organisation together.
fn by_organisation(found: &[Record]) -> Result<BTreeMap<String, WaitingGroup>> {
    let mut groups: BTreeMap<String, WaitingGroup> = BTreeMap::new();
    for stored in found {
        let entry: WaitingEntry = decode(&stored.value)?;
        let group = groups.entry(entry.organisation).or_default();
        group.hashes.push(entry.hash.0);
        group.ids.push(stored.id.clone());
    }
    Ok(groups)
}

/// The tenant that holds the trail. No organisation can write there.
fn home() -> TenantId {
    TenantId::instance()
}

/// The day of an RFC 3339 time.
fn day(at: &str) -> String {
    at.chars().take(10).collect()
}

/// Names of organisations have no dot.
fn link_id(organisation: &str, number: u64) -> String {
    format!("{organisation}.{number}")
}

fn of_organisation(organisation: &str) -> Tag {
    Tag::hashed("organisation", organisation)
}
