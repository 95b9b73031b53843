//! Rows as the statements give and take them.

use selfsame_crypto::frame;
use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
pub(crate) use selfsame_store::backend::sql;
use selfsame_store::backend::{
    KEY_KIND, LIST_KIND, OutboxId, Place, SealedEntry, SealedLetter, SealedRecord, StoredEvent,
};
use selfsame_store::{StoreError, TenantId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::failure::{DatabaseFailure, DatabaseResult};

/// Identifies a lane.
pub(crate) type LaneKey = [u8; 16];

/// A record without its value, which is bound to tenant, kind, identifier and version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RecordRow {
    pub(crate) seq: i64,
    pub(crate) version: i64,
    pub(crate) expires: Option<i64>,
    /// The tag keys, joined by [`frame::join`].
    pub(crate) tags: Vec<u8>,
}

/// An entry of the outbox without what is sealed, which is bound to tenant and identifier. `head` follows from the rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct EntryRow {
    pub(crate) seq: i64,
    pub(crate) tenant: String,
    pub(crate) lane: LaneKey,
    pub(crate) not_before: i64,
    pub(crate) attempts: i32,
    pub(crate) created: i64,
    pub(crate) buried: Option<i64>,
    pub(crate) reason: Option<String>,
    /// The process that carries it out, as found; what is written follows from the change.
    pub(crate) holder: Option<Uuid>,
}

/// An event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct EventRow {
    pub(crate) seq: i64,
    pub(crate) stamp: i64,
    pub(crate) at: i64,
    pub(crate) place: Place,
}

fn unsigned(number: i64) -> u64 {
    number.cast_unsigned()
}

/// The key of a record's row.
pub(crate) fn key(place: &Place) -> Uuid {
    let parts = [
        place.tenant.as_str().as_bytes(),
        place.kind.as_bytes(),
        place.id.as_bytes(),
    ];
    let hash = hash::sha256(&frame::join(&parts));
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    Uuid::from_bytes(half)
}

/// The place of the record with a tenant's key.
pub(crate) fn key_place(tenant: &TenantId) -> Place {
    Place {
        tenant: tenant.clone(),
        kind: KEY_KIND.to_owned(),
        id: String::new(),
    }
}

/// The place of the list of master keys.
pub(crate) fn list_place() -> Place {
    Place {
        kind: LIST_KIND.to_owned(),
        ..key_place(&TenantId::instance())
    }
}

/// The key of the row with a tenant's key.
pub(crate) fn tenant_key(tenant: &TenantId) -> Uuid {
    key(&key_place(tenant))
}

pub(crate) fn tenant(name: String) -> DatabaseResult<TenantId> {
    TenantId::try_from(name).map_err(|_| DatabaseFailure::Final(StoreError::Tampered("tenant")))
}

fn lane(bytes: &[u8]) -> DatabaseResult<LaneKey> {
    let lane = bytes.try_into();
    lane.map_err(|_| DatabaseFailure::Final(StoreError::Tampered("lane")))
}

/// Columns `tenant, kind, id`, from `first` on.
pub(crate) fn place(row: &Row, first: usize) -> DatabaseResult<Place> {
    Ok(Place {
        tenant: tenant(row.try_get(first)?)?,
        kind: row.try_get(first + 1)?,
        id: row.try_get(first + 2)?,
    })
}

/// Columns `id, seq, version, expires, value`.
pub(crate) fn record(row: &Row) -> DatabaseResult<SealedRecord> {
    record_at(row, 0)
}

/// Columns `id, seq, version, expires, value`, from `first` on.
pub(crate) fn record_at(row: &Row, first: usize) -> DatabaseResult<SealedRecord> {
    let expires: Option<i64> = row.try_get(first + 3)?;
    Ok(SealedRecord {
        id: row.try_get(first)?,
        seq: unsigned(row.try_get(first + 1)?),
        version: unsigned(row.try_get(first + 2)?),
        expires: expires.map(|at| UnixTime(unsigned(at))),
        value: row.try_get(first + 4)?,
    })
}

/// Columns `seq, version, expires, tags`, from `first` on.
pub(crate) fn record_row(row: &Row, first: usize) -> DatabaseResult<RecordRow> {
    Ok(RecordRow {
        seq: row.try_get(first)?,
        version: row.try_get(first + 1)?,
        expires: row.try_get(first + 2)?,
        tags: row.try_get(first + 3)?,
    })
}

/// Columns `id, tenant, lane, not_before, attempts, created, sealed`.
pub(crate) fn entry(row: &Row) -> DatabaseResult<SealedEntry> {
    let attempts: i32 = row.try_get(4)?;
    Ok(SealedEntry {
        id: OutboxId(unsigned(row.try_get(0)?)),
        tenant: tenant(row.try_get(1)?)?,
        lane: lane(row.try_get(2)?)?,
        not_before: UnixTime(unsigned(row.try_get(3)?)),
        attempts: attempts.cast_unsigned(),
        created: UnixTime(unsigned(row.try_get(5)?)),
        sealed: row.try_get(6)?,
    })
}

/// The columns of [`entry`], and `seq, reason, buried`.
pub(crate) fn letter(row: &Row) -> DatabaseResult<SealedLetter> {
    Ok(SealedLetter {
        entry: entry(row)?,
        seq: unsigned(row.try_get(7)?),
        reason: row.try_get(8)?,
        buried: UnixTime(unsigned(row.try_get(9)?)),
    })
}

/// Columns `id, seq, tenant, lane, not_before, attempts, created, buried, reason, holder`.
pub(crate) fn entry_row(row: &Row) -> DatabaseResult<(OutboxId, EntryRow)> {
    let id = OutboxId(unsigned(row.try_get(0)?));
    let entry = EntryRow {
        seq: row.try_get(1)?,
        tenant: row.try_get(2)?,
        lane: lane(row.try_get(3)?)?,
        not_before: row.try_get(4)?,
        attempts: row.try_get(5)?,
        created: row.try_get(6)?,
        buried: row.try_get(7)?,
        reason: row.try_get(8)?,
        holder: row.try_get(9)?,
    };
    Ok((id, entry))
}

/// Columns `seq, stamp, at, tenant, kind, id`.
pub(crate) fn event_row(row: &Row) -> DatabaseResult<EventRow> {
    Ok(EventRow {
        seq: row.try_get(0)?,
        stamp: row.try_get(1)?,
        at: row.try_get(2)?,
        place: place(row, 3)?,
    })
}

impl From<EventRow> for StoredEvent {
    fn from(row: EventRow) -> Self {
        Self {
            place: row.place,
            at: UnixTime(unsigned(row.at)),
            seq: unsigned(row.seq),
            stamp: unsigned(row.stamp),
        }
    }
}
