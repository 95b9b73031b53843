//! What a line says, once opened: bytes that are framed part by part.

use selfsame_crypto::hash::sum::Sum;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Secret, frame};
use selfsame_store::backend::{OutboxId, Place, SealedEntry, SealedRecord};
use selfsame_store::{StoreError, TenantId};

/// What a line says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MovedPart {
    /// The tenant: the first sealed line.
    Tenant {
        /// The version of the row with its key.
        version: u64,
        /// The key that seals its rows, wrapped by the vault of the file.
        key: Vec<u8>,
        /// The name of the organisation.
        name: String,
        /// The organisation, as the instance keeps it.
        record: Vec<u8>,
    },
    /// A record.
    Record(MovedRecord),
    /// A counter, and the next number of it.
    Counter {
        /// Its name.
        name: String,
        /// The next number.
        next: u64,
    },
    /// A call that is to be made.
    Entry(MovedEntry),
    /// A part of the tails file of a revocation registry.
    Tails(MovedTails),
    /// The last line.
    End(MovedEnd),
}

/// A record as it is stored, sealed with the tenant's key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MovedRecord {
    /// The kind.
    pub kind: String,
    /// The identifier.
    pub id: String,
    /// The version, which the seal is bound to.
    pub version: u64,
    /// The time from which it reads as absent.
    pub expires: Option<UnixTime>,
    /// Its tag keys, framed.
    pub tags: Vec<u8>,
    /// The sealed value.
    pub value: Vec<u8>,
}

/// An entry of the outbox as it is stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MovedEntry {
    id: u64,
    lane: [u8; 16],
    not_before: u64,
    attempts: u32,
    created: u64,
    sealed: Vec<u8>,
}

/// A part of a tails file. The parts of a file follow each other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MovedTails {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is the last one of the file.
    pub is_last: bool,
}

/// What the last line says of all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MovedEnd {
    /// The number of records.
    pub records: u64,
    /// The sum of their hashes.
    pub sum: Sum,
    /// The number of counters.
    pub counters: u64,
    /// The number of entries of the outbox.
    pub entries: u64,
    /// The number of tails files.
    pub tails: u64,
}

const TENANT: &[u8] = b"tenant";
const RECORD: &[u8] = b"record";
const COUNTER: &[u8] = b"counter";
const ENTRY: &[u8] = b"entry";
const TAILS: &[u8] = b"tails";
const END: &[u8] = b"end";

impl MovedPart {
    /// The bytes of a line.
    #[must_use]
    pub fn to_bytes(&self) -> Secret {
        let bytes = match self {
            Self::Tenant {
                version,
                key,
                name,
                record,
            } => frame::join(&[TENANT, &version.to_be_bytes(), key, name.as_bytes(), record]),
            Self::Record(record) => framed(RECORD, record),
            Self::Counter { name, next } => {
                frame::join(&[COUNTER, name.as_bytes(), &next.to_be_bytes()])
            }
            Self::Entry(entry) => frame::join(&[
                ENTRY,
                &entry.id.to_be_bytes(),
                &entry.lane,
                &entry.not_before.to_be_bytes(),
                &entry.attempts.to_be_bytes(),
                &entry.created.to_be_bytes(),
                &entry.sealed,
            ]),
            Self::Tails(tails) => frame::join(&[TAILS, &[u8::from(tails.is_last)], &tails.bytes]),
            Self::End(end) => frame::join(&[
                END,
                &end.records.to_be_bytes(),
                &end.sum.to_bytes(),
                &end.counters.to_be_bytes(),
                &end.entries.to_be_bytes(),
                &end.tails.to_be_bytes(),
            ]),
        };
        Secret::new(bytes)
    }

    /// Reads the bytes of a line; `None` for those that [`Self::to_bytes`] does not write.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let parts = frame::split(bytes)?;
        match *parts.as_slice() {
            [TENANT, version, key, name, record] => Some(Self::Tenant {
                version: number(version)?,
                key: key.to_vec(),
                name: text(name)?,
                record: record.to_vec(),
            }),
            [RECORD, kind, id, version, expires, tags, value] => Some(Self::Record(MovedRecord {
                kind: text(kind)?,
                id: text(id)?,
                version: number(version)?,
                expires: match expires.is_empty() {
                    true => None,
                    false => Some(UnixTime(number(expires)?)),
                },
                tags: frame::split(tags).map(|_| tags.to_vec())?,
                value: value.to_vec(),
            })),
            [COUNTER, name, next] => Some(Self::Counter {
                name: text(name)?,
                next: number(next)?,
            }),
            [ENTRY, id, lane, not_before, attempts, created, sealed] => {
                Some(Self::Entry(MovedEntry {
                    id: number(id)?,
                    lane: lane.try_into().ok()?,
                    not_before: number(not_before)?,
                    attempts: u32::from_be_bytes(attempts.try_into().ok()?),
                    created: number(created)?,
                    sealed: sealed.to_vec(),
                }))
            }
            [TAILS, [is_last @ (0 | 1)], bytes] => Some(Self::Tails(MovedTails {
                bytes: bytes.to_vec(),
                is_last: *is_last == 1,
            })),
            [END, records, sum, counters, entries, tails] => Some(Self::End(MovedEnd {
                records: number(records)?,
                sum: Sum::of(sum)?,
                counters: number(counters)?,
                entries: number(entries)?,
                tails: number(tails)?,
            })),
            _ => None,
        }
    }
}

impl MovedRecord {
    /// The record of a row.
    #[must_use]
    pub fn of(kind: String, sealed: SealedRecord, tags: Vec<u8>) -> Self {
        Self {
            kind,
            id: sealed.id,
            version: sealed.version,
            expires: sealed.expires,
            tags,
            value: sealed.value,
        }
    }

    /// Where it belongs.
    #[must_use]
    pub fn place(&self, tenant: &TenantId) -> Place {
        Place {
            tenant: tenant.clone(),
            kind: self.kind.clone(),
            id: self.id.clone(),
        }
    }

    /// Its tag keys.
    ///
    /// # Errors
    /// `Tampered` if they are not framed.
    pub fn tag_keys(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let keys = frame::split(&self.tags).ok_or(StoreError::Tampered("list of tags"))?;
        Ok(keys.into_iter().map(<[u8]>::to_vec).collect())
    }
}

impl MovedEntry {
    /// The entry of a row.
    #[must_use]
    pub fn of(entry: SealedEntry) -> Self {
        Self {
            id: entry.id.0,
            lane: entry.lane,
            not_before: entry.not_before.0,
            attempts: entry.attempts,
            created: entry.created.0,
            sealed: entry.sealed,
        }
    }

    /// The entry of this tenant.
    #[must_use]
    pub fn into_entry(self, tenant: &TenantId) -> SealedEntry {
        SealedEntry {
            id: OutboxId(self.id),
            tenant: tenant.clone(),
            lane: self.lane,
            not_before: UnixTime(self.not_before),
            attempts: self.attempts,
            created: UnixTime(self.created),
            sealed: self.sealed,
        }
    }
}

/// The bytes of a record under this label.
pub(crate) fn framed(label: &[u8], record: &MovedRecord) -> Vec<u8> {
    let expires = record.expires.map(|at| at.0.to_be_bytes());
    frame::join(&[
        label,
        record.kind.as_bytes(),
        record.id.as_bytes(),
        &record.version.to_be_bytes(),
        expires.as_ref().map_or(&[], <[u8; 8]>::as_slice),
        &record.tags,
        &record.value,
    ])
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests;
