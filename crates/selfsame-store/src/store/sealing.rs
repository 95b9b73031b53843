//! Seals a batch, within the store's limits.

use std::sync::Arc;

use selfsame_crypto::frame;
use selfsame_crypto::time::UnixTime;

use super::{OWN_KINDS, Store, place};
use crate::backend::{Place, SealedBatch, Write};
use crate::batch::{Batch, BatchStep, Committed};
use crate::error::{Result, StoreError};
use crate::outbox::{self, NewOutbox};
use crate::record::{Expect, Put, Tag};
use crate::tenant::TenantId;
use crate::vault::{TenantKeys, bound};

const MAX_STEPS: usize = 4_096;
const MAX_BATCH_BYTES: usize = 32 << 20;
const MAX_VALUE_BYTES: usize = 8 << 20;
const MAX_NAME_BYTES: usize = 512;
const MAX_TAG_BYTES: usize = 2_048;
const MAX_TAGS: usize = 32;

impl Store {
    pub(super) async fn seal(&self, batch: Batch) -> Result<(SealedBatch, Committed)> {
        within("batch", batch.steps.len(), MAX_STEPS)?;
        let mut draft = BatchDraft {
            now: self.now(),
            writes: Vec::with_capacity(batch.steps.len()),
            committed: Committed::default(),
            bytes: 0,
        };
        let mut current: Option<(TenantId, Arc<TenantKeys>)> = None;
        for (tenant, step) in batch.steps {
            let keys = match current {
                Some((ref known, ref keys)) if *known == tenant => keys.clone(),
                _ => self.keys_or_fresh(&tenant).await?,
            };
            draft.step(&tenant, &keys, step)?;
            current = Some((tenant, keys));
        }
        each_once(&draft.writes)?;
        Ok((
            SealedBatch {
                now: draft.now,
                durable: !batch.deferred,
                writes: draft.writes,
            },
            draft.committed,
        ))
    }
}

/// A sealed batch being built.
struct BatchDraft {
    now: UnixTime,
    writes: Vec<Write>,
    committed: Committed,
    bytes: usize,
}

impl BatchDraft {
    fn step(&mut self, tenant: &TenantId, keys: &TenantKeys, step: BatchStep) -> Result<()> {
        let write = match step {
            BatchStep::Expect { kind, id, expect } => {
                Write::Expect(checked(tenant, &kind, &id)?, expect)
            }
            BatchStep::Put(put) => self.put(tenant, keys, put)?,
            BatchStep::Update {
                kind,
                id,
                version,
                value,
            } => {
                let place = checked(tenant, &kind, &id)?;
                self.writes
                    .push(Write::Expect(place.clone(), Expect::Version(version)));
                let (version, value) = self.value(keys, &place, &value)?;
                Write::Update {
                    place,
                    version,
                    value,
                }
            }
            BatchStep::Delete { kind, id } => Write::Delete(checked(tenant, &kind, &id)?),
            BatchStep::Event { kind, id } => {
                Write::Event(checked(tenant, &kind, &id)?, keys.stamp())
            }
            BatchStep::Enqueue(entry) => self.enqueue(tenant, keys, &entry)?,
            BatchStep::Settle(id) => Write::Settle(id),
            BatchStep::Retry { id, not_before } => Write::Retry(id, not_before),
            BatchStep::Bury { id, reason } => Write::Bury(id, shortened(reason)),
            BatchStep::Replay(id) => Write::Replay(id),
        };
        self.writes.push(write);
        Ok(())
    }

    fn put(&mut self, tenant: &TenantId, keys: &TenantKeys, put: Put) -> Result<Write> {
        let place = checked(tenant, put.kind, &put.id)?;
        within("number of tags", put.tags.len(), MAX_TAGS)?;
        let mut tags = Vec::with_capacity(put.tags.len());
        for tag in &put.tags {
            let (Tag::Hashed { name, value } | Tag::Plain { name, value }) = tag;
            within("tag", name.len() + value.len(), MAX_TAG_BYTES)?;
            tags.push(tag_key(keys, tenant, put.kind, tag));
        }
        tags.sort_unstable();
        tags.dedup();
        let (version, value) = self.value(keys, &place, &put.value)?;
        Ok(Write::Put {
            place,
            version,
            value,
            tags,
            expires: put.expires,
        })
    }

    fn value(&mut self, keys: &TenantKeys, place: &Place, plain: &[u8]) -> Result<(u64, Vec<u8>)> {
        self.account("value", plain.len())?;
        let version = keys.stamp();
        self.committed.versions.push(version);
        Ok((
            version,
            keys.seal(
                version,
                &bound(&place.tenant, &place.kind, &place.id, version),
                plain,
            )?,
        ))
    }

    fn enqueue(
        &mut self,
        tenant: &TenantId,
        keys: &TenantKeys,
        entry: &NewOutbox,
    ) -> Result<Write> {
        for name in [&entry.destination, &entry.subject, &entry.key] {
            within("outbox name", name.len(), MAX_TAG_BYTES)?;
        }
        self.account("payload", entry.payload.len())?;
        let sealed = outbox::seal(keys, tenant, entry, self.now)?;
        self.committed.outbox.push(sealed.id);
        Ok(Write::Enqueue(sealed))
    }

    fn account(&mut self, what: &'static str, bytes: usize) -> Result<()> {
        within(what, bytes, MAX_VALUE_BYTES)?;
        self.bytes = self.bytes.saturating_add(bytes);
        within("batch", self.bytes, MAX_BATCH_BYTES)
    }
}

/// A batch writes each item once, so that all conditions can be checked before anything is written.
fn each_once(writes: &[Write]) -> Result<()> {
    let (mut places, mut entries) = (Vec::new(), Vec::new());
    for write in writes {
        match write {
            Write::Put { place, .. } | Write::Update { place, .. } | Write::Delete(place) => {
                places.push(place)
            }
            Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) | Write::Replay(id) => {
                entries.push(id)
            }
            Write::Expect(..)
            | Write::Event(..)
            | Write::Enqueue(_)
            | Write::Reserve(..)
            | Write::Leap(_)
            | Write::Purge(_)
            | Write::Erase { .. } => {}
        }
    }
    if repeats(places) || repeats(entries) {
        return Err(StoreError::Malformed(
            "batch: it writes the same thing twice",
        ));
    }
    Ok(())
}

fn repeats<T: Ord>(mut list: Vec<T>) -> bool {
    list.sort_unstable();
    list.windows(2).any(|pair| pair[0] == pair[1])
}

/// The stored form of a tag: a keyed hash, or tenant, kind and name before the plain value.
pub(super) fn tag_key(keys: &TenantKeys, tenant: &TenantId, kind: &str, tag: &Tag) -> Vec<u8> {
    match tag {
        Tag::Hashed { name, value } => [&[0][..], &keys.tag(kind, name, value)].concat(),
        Tag::Plain { name, value } => {
            let scope =
                frame::join(&[tenant.as_str().as_bytes(), kind.as_bytes(), name.as_bytes()]);
            [&[1][..], &scope, value.as_bytes()].concat()
        }
    }
}

fn checked(tenant: &TenantId, kind: &str, id: &str) -> Result<Place> {
    if kind.is_empty() || kind.starts_with(OWN_KINDS) {
        return Err(StoreError::Malformed("kind"));
    }
    within("kind", kind.len(), MAX_NAME_BYTES)?;
    within("identifier", id.len(), MAX_NAME_BYTES)?;
    Ok(place(tenant, kind, id))
}

fn within(what: &'static str, size: usize, limit: usize) -> Result<()> {
    let fits = (size <= limit).then_some(());
    fits.ok_or(StoreError::TooLarge { what, limit })
}

fn shortened(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(Batch::REASON_MAX));
    reason
}
