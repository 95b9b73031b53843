//! Changes as columns: one array for each column of a statement.

use selfsame_crypto::frame;
use selfsame_store::StoreError;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::group::{EntryChange, RecordChange, RowChanges};

/// Columns of `INSERT_RECORDS`; the last ones are those of `UPDATE_RECORDS`.
#[derive(Default)]
pub(crate) struct RecordColumns<'a> {
    pub(crate) place: Vec<Uuid>,
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) kind: Vec<&'a str>,
    pub(crate) id: Vec<&'a str>,
    pub(crate) seq: Vec<i64>,
    pub(crate) version: Vec<i64>,
    pub(crate) expires: Vec<Option<i64>>,
    pub(crate) tags: Vec<&'a [u8]>,
    pub(crate) value: Vec<&'a [u8]>,
}

/// Columns of `INSERT_TAGS` and `DELETE_TAGS`.
#[derive(Default)]
pub(crate) struct TagColumns<'a> {
    pub(crate) tag: Vec<&'a [u8]>,
    pub(crate) seq: Vec<i64>,
    pub(crate) place: Vec<Uuid>,
}

/// The changes of records, by statement.
#[derive(Default)]
pub(crate) struct RecordParameters<'a> {
    pub(crate) added: RecordColumns<'a>,
    pub(crate) changed: RecordColumns<'a>,
    pub(crate) removed: Vec<Uuid>,
    pub(crate) tagged: TagColumns<'a>,
    pub(crate) untagged: TagColumns<'a>,
}

/// Columns of `INSERT_ENTRIES`.
#[derive(Default)]
pub(crate) struct EntryColumns<'a> {
    pub(crate) id: Vec<i64>,
    pub(crate) seq: Vec<i64>,
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) lane: Vec<&'a [u8]>,
    pub(crate) head: Vec<bool>,
    pub(crate) not_before: Vec<i64>,
    pub(crate) attempts: Vec<i32>,
    pub(crate) created: Vec<i64>,
    pub(crate) sealed: Vec<&'a [u8]>,
    pub(crate) buried: Vec<Option<i64>>,
    pub(crate) reason: Vec<Option<&'a str>>,
}

/// The changes of the outbox, by statement.
#[derive(Default)]
pub(crate) struct EntryParameters<'a> {
    pub(crate) added: EntryColumns<'a>,
    pub(crate) changed: EntryColumns<'a>,
    pub(crate) removed: Vec<i64>,
}

/// Columns of `SET_COUNTERS`, and of `DELETE_COUNTERS`.
#[derive(Default)]
pub(crate) struct CounterColumns<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) counter: Vec<&'a str>,
    pub(crate) next: Vec<i64>,
}

/// Columns of `INSERT_EVENTS`.
#[derive(Default)]
pub(crate) struct EventColumns<'a> {
    pub(crate) place: Vec<i64>,
    pub(crate) stamp: Vec<i64>,
    pub(crate) at: Vec<i64>,
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) kind: Vec<&'a str>,
    pub(crate) id: Vec<&'a str>,
}

impl EntryColumns<'_> {
    /// What every new entry has, but what is sealed: `id` to `created`.
    pub(crate) fn open_columns(&self) -> [&(dyn ToSql + Sync); 8] {
        [
            &self.id,
            &self.seq,
            &self.tenant,
            &self.lane,
            &self.head,
            &self.not_before,
            &self.attempts,
            &self.created,
        ]
    }
}

impl CounterColumns<'_> {
    pub(crate) fn all(&self) -> [&(dyn ToSql + Sync); 3] {
        [&self.tenant, &self.counter, &self.next]
    }
}

impl EventColumns<'_> {
    pub(crate) fn all(&self) -> [&(dyn ToSql + Sync); 6] {
        [
            &self.place,
            &self.stamp,
            &self.at,
            &self.tenant,
            &self.kind,
            &self.id,
        ]
    }
}

impl<'a> TagColumns<'a> {
    pub(crate) fn add(&mut self, tags: &'a [u8], seq: i64, place: Uuid) -> DatabaseResult<()> {
        let tags = frame::split(tags);
        for tag in tags.ok_or(DatabaseFailure::Final(StoreError::Tampered("list of tags")))? {
            self.tag.push(tag);
            self.seq.push(seq);
            self.place.push(place);
        }
        Ok(())
    }
}

impl<'a> RecordParameters<'a> {
    pub(crate) fn of(changes: &'a RowChanges<'a>) -> DatabaseResult<Self> {
        let mut parameters = Self::default();
        for (key, change) in &changes.records {
            parameters.add(*key, change)?;
        }
        // A row is added and removed again: a transaction that adds the same one waits for this one, and then fails.
        for (key, place) in &changes.absent {
            let added = &mut parameters.added;
            added.place.push(*key);
            added.tenant.push(place.tenant.as_str());
            added.kind.push(&place.kind);
            added.id.push(&place.id);
            added.seq.push(0);
            added.version.push(0);
            added.expires.push(None);
            added.tags.push(&[]);
            added.value.push(&[]);
            parameters.removed.push(*key);
        }
        Ok(parameters)
    }

    fn add(&mut self, key: Uuid, change: &'a RecordChange<'a>) -> DatabaseResult<()> {
        let before = change.before.as_ref();
        let Some(after) = &change.after else {
            self.removed.push(key);
            return match before {
                Some(before) => self.untagged.add(&before.tags, before.seq, key),
                None => Ok(()),
            };
        };
        let columns = match before {
            Some(_) => &mut self.changed,
            None => {
                self.added.tenant.push(change.place.tenant.as_str());
                self.added.kind.push(&change.place.kind);
                self.added.id.push(&change.place.id);
                &mut self.added
            }
        };
        let row = &after.row;
        columns.place.push(key);
        columns.seq.push(row.seq);
        columns.version.push(row.version);
        columns.expires.push(row.expires);
        columns.tags.push(&row.tags);
        columns.value.push(after.value);
        if before.is_some_and(|before| before.tags == row.tags && before.seq == row.seq) {
            return Ok(());
        }
        if let Some(before) = before {
            self.untagged.add(&before.tags, before.seq, key)?;
        }
        self.tagged.add(&row.tags, row.seq, key)
    }
}

impl<'a> EntryParameters<'a> {
    pub(crate) fn of(changes: &'a RowChanges<'a>) -> Self {
        let mut parameters = Self::default();
        for (id, change) in &changes.entries {
            parameters.add(id.0.cast_signed(), change);
        }
        parameters
    }

    fn add(&mut self, id: i64, change: &'a EntryChange<'a>) {
        let Some(after) = &change.after else {
            return self.removed.push(id);
        };
        let columns = match change.before {
            Some(_) => &mut self.changed,
            None => {
                let added = &mut self.added;
                added.tenant.push(&after.tenant);
                added.lane.push(&after.lane);
                added.head.push(change.head);
                added.created.push(after.created);
                added.sealed.push(change.sealed);
                added
            }
        };
        columns.id.push(id);
        columns.seq.push(after.seq);
        columns.not_before.push(after.not_before);
        columns.attempts.push(after.attempts);
        columns.buried.push(after.buried);
        columns.reason.push(after.reason.as_deref());
    }
}

impl<'a> CounterColumns<'a> {
    /// The counters that are new, those that have another number, and those that are gone.
    pub(crate) fn of(changes: &'a RowChanges<'a>) -> [Self; 3] {
        let [mut new, mut set, mut gone] = [Self::default(), Self::default(), Self::default()];
        for (name, change) in &changes.counters {
            let columns = match change.after {
                Some(next) => {
                    let columns = match change.before {
                        None => &mut new,
                        Some(_) => &mut set,
                    };
                    columns.next.push(next);
                    columns
                }
                None => &mut gone,
            };
            columns.tenant.push(&name.tenant);
            columns.counter.push(&name.counter);
        }
        [new, set, gone]
    }
}

impl<'a> EventColumns<'a> {
    pub(crate) fn of(changes: &'a RowChanges<'a>) -> Self {
        let mut columns = Self::default();
        for (place, event) in (1..).zip(&changes.events) {
            columns.place.push(place);
            columns.stamp.push(event.stamp);
            columns.at.push(event.at);
            columns.tenant.push(event.place.tenant.as_str());
            columns.kind.push(&event.place.kind);
            columns.id.push(&event.place.id);
        }
        columns
    }
}
