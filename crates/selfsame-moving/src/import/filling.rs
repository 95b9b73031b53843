//! The lines of a file, taken in one after the other: each that is wrong is named, and the rest goes in.

use std::io::BufRead;

use selfsame_anoncreds_wallet::revocation::moving;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::Write;
use selfsame_store::{Batch, Expect, Store, TenantId};
use serde::Serialize;

use super::{ImportTerms, TenantImport};
use crate::error::MoveError;
use crate::line::{NoLine, ReadLine};
use crate::part::{MovedEnd, MovedEntry, MovedPart, MovedRecord, MovedTails};
use crate::tally::RowTally;

/// The rows of one commit, and their bytes after which none is added.
const ROWS: usize = 250;
const BYTES: usize = 4 << 20;
/// The faulty lines that are named; others are counted.
const NAMED: usize = 100;
/// The first line with a row.
const FIRST: u64 = 3;
/// What the store's own kinds begin with.
const OWN_KINDS: &str = "selfsame.";

/// A line that did not go in.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FaultyLine {
    /// Its place in the file, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: LineFault,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineFault {
    /// It is longer than any line can be.
    TooLong,
    /// It is not a sealed line, or is cut off.
    Malformed,
    /// It was changed, or belongs to another file.
    Changed,
    /// It was there before, or stands at another place than it was written at.
    Again,
    /// It says what no line says, or follows the last one.
    Unknown,
    /// The instance has this record with another content.
    Different,
    /// It ends a tails file that is that of no revocation registry of the tenant.
    OtherTails,
}

/// A counter of the tenant.
pub(super) struct MovedCounter {
    pub name: String,
    pub next: u64,
}

/// What came of the lines of a file.
pub struct FilledTenant {
    pub(super) new: u64,
    pub(super) already: u64,
    pub(super) expired: u64,
    pub(super) missing: u64,
    pub(super) faulty: u64,
    pub(super) faults: Vec<FaultyLine>,
    pub(super) counters: Vec<MovedCounter>,
    pub(super) entries: Vec<MovedEntry>,
    pub(super) tails: u64,
    pub(super) now: UnixTime,
    /// The records that are there now.
    pub(super) there: RowTally,
    /// All records of the lines that could be read.
    all: RowTally,
    end: Option<MovedEnd>,
}

impl FilledTenant {
    fn at(now: UnixTime) -> Self {
        Self {
            new: 0,
            already: 0,
            expired: 0,
            missing: 0,
            faulty: 0,
            faults: Vec::new(),
            counters: Vec::new(),
            entries: Vec::new(),
            tails: 0,
            now,
            there: RowTally::default(),
            all: RowTally::default(),
            end: None,
        }
    }

    /// Whether all lines of the file were read and are in.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let counts = |end: &MovedEnd| {
            end.records == self.all.count()
                && end.sum == self.all.sum()
                && end.counters == super::count(self.counters.len())
                && end.entries == super::count(self.entries.len())
                && end.tails == self.tails
        };
        self.missing == 0 && self.end.as_ref().is_some_and(counts)
    }
}

/// Takes all lines in.
pub(super) async fn fill<R: BufRead>(
    import: &mut TenantImport<R>,
    store: &Store,
    terms: &ImportTerms<'_>,
) -> Result<FilledTenant, MoveError> {
    let mut filling = Filling {
        store,
        tenant: import.tenant().clone(),
        filled: FilledTenant::at(terms.now),
        expected: FIRST,
        waiting: Vec::new(),
        bytes: 0,
        tails: Vec::new(),
    };
    while let Some(line) = import.lines.next_line()? {
        let place = import.lines.number();
        (terms.tell)("lines read", place);
        let opened = match line {
            ReadLine::TooLong => Err(LineFault::TooLong),
            ReadLine::Bytes(line) => import.seal.open(&line).map_err(LineFault::from),
        };
        let taken = opened.and_then(|opened| {
            filling.in_turn(opened.number)?;
            let part = MovedPart::parse(&opened.plain).ok_or(LineFault::Unknown)?;
            match can_go_in(import, &part) {
                true => filling.take(place, part),
                false => Err(LineFault::Unknown),
            }
        });
        match taken {
            Ok(None) => filling.write_if_full().await?,
            Ok(Some(tails)) => filling.take_tails(place, tails).await?,
            Err(fault) => filling.fault(place, fault),
        }
    }
    filling.write().await?;
    Ok(filling.filled)
}

/// Whether what a line says belongs to the tenant: its own key opens it, and it is no record of the store itself.
fn can_go_in<R: BufRead>(import: &TenantImport<R>, part: &MovedPart) -> bool {
    match part {
        MovedPart::Tenant { .. } => false,
        MovedPart::Record(record) => {
            let is_own = record.kind.is_empty() || record.kind.starts_with(OWN_KINDS);
            !is_own && import.opens(record)
        }
        MovedPart::Entry(entry) => import.opens_call(entry),
        MovedPart::Counter { .. } | MovedPart::Tails(_) | MovedPart::End(_) => true,
    }
}

impl From<NoLine> for LineFault {
    fn from(no: NoLine) -> Self {
        match no {
            NoLine::Malformed => Self::Malformed,
            NoLine::Changed => Self::Changed,
        }
    }
}

struct Filling<'a> {
    store: &'a Store,
    tenant: TenantId,
    filled: FilledTenant,
    /// The number of the next line.
    expected: u64,
    waiting: Vec<WaitingRecord>,
    bytes: usize,
    /// The parts of a tails file so far.
    tails: Vec<u8>,
}

struct WaitingRecord {
    line: u64,
    record: MovedRecord,
}

impl Filling<'_> {
    fn fault(&mut self, line: u64, fault: LineFault) {
        self.filled.faulty = self.filled.faulty.saturating_add(1);
        if self.filled.faults.len() < NAMED {
            self.filled.faults.push(FaultyLine { line, fault });
        }
    }

    /// Lines stand in their order; those between two that do not follow each other are missing.
    fn in_turn(&mut self, number: u64) -> Result<(), LineFault> {
        if self.filled.end.is_some() {
            return Err(LineFault::Unknown);
        }
        let missing = number.checked_sub(self.expected).ok_or(LineFault::Again)?;
        self.filled.missing = self.filled.missing.saturating_add(missing);
        self.expected = number.saturating_add(1);
        Ok(())
    }

    /// Takes a part in; gives back a part of a tails file, which is no row.
    fn take(&mut self, line: u64, part: MovedPart) -> Result<Option<MovedTails>, LineFault> {
        match part {
            MovedPart::Tenant { .. } => return Err(LineFault::Unknown),
            MovedPart::Record(record) => {
                let now = self.filled.now;
                if record.expires.is_some_and(|at| at <= now) {
                    self.filled.all.add(&record);
                    self.filled.expired = self.filled.expired.saturating_add(1);
                    return Ok(None);
                }
                self.bytes = self.bytes.saturating_add(record.value.len());
                self.waiting.push(WaitingRecord { line, record });
            }
            MovedPart::Counter { name, next } => {
                self.filled.counters.push(MovedCounter { name, next });
            }
            MovedPart::Entry(entry) => self.filled.entries.push(entry),
            MovedPart::Tails(tails) => return Ok(Some(tails)),
            MovedPart::End(end) => self.filled.end = Some(end),
        }
        Ok(None)
    }

    /// Takes a part of a tails file in. With the last one the file is kept, if its hash is that of a registry of the
    /// tenant; the registries stand before it.
    async fn take_tails(&mut self, line: u64, part: MovedTails) -> Result<(), MoveError> {
        let length = self.tails.len().saturating_add(part.bytes.len());
        if length <= moving::TAILS_MAX {
            self.tails.extend_from_slice(&part.bytes);
        }
        if !part.is_last {
            return Ok(());
        }
        self.write().await?;
        let bytes = std::mem::take(&mut self.tails);
        match moving::arrival(self.store, &self.tenant, &bytes).await {
            Ok(writes) => {
                if let Some(batch) = writes {
                    self.store.commit(batch).await?;
                }
                self.filled.tails = self.filled.tails.saturating_add(1);
            }
            Err(error) if error.is_refusal() => self.fault(line, LineFault::OtherTails),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn write_if_full(&mut self) -> Result<(), MoveError> {
        match self.waiting.len() >= ROWS || self.bytes >= BYTES {
            true => self.write().await,
            false => Ok(()),
        }
    }

    /// Writes the records that wait, in one commit.
    async fn write(&mut self) -> Result<(), MoveError> {
        self.bytes = 0;
        let (mut rows, mut written) = (Vec::new(), Vec::new());
        for WaitingRecord { line, record } in std::mem::take(&mut self.waiting) {
            let place = record.place(&self.tenant);
            match self
                .store
                .version(&self.tenant, &record.kind, &record.id)
                .await?
            {
                Some(version) if version == record.version => {
                    self.filled.already = self.filled.already.saturating_add(1);
                    self.is_there(&record);
                }
                Some(_) => self.fault(line, LineFault::Different),
                None => {
                    rows.push(Write::Expect(place.clone(), Expect::Absent));
                    rows.push(Write::Put {
                        place,
                        version: record.version,
                        value: record.value.clone(),
                        tags: record.tag_keys()?,
                        expires: record.expires,
                    });
                    written.push(record);
                }
            }
        }
        if !rows.is_empty() {
            self.store
                .adopt(rows, Batch::new(self.tenant.clone()))
                .await?;
        }
        for record in &written {
            self.filled.new = self.filled.new.saturating_add(1);
            self.is_there(record);
        }
        Ok(())
    }

    fn is_there(&mut self, record: &MovedRecord) {
        self.filled.there.add(record);
        self.filled.all.add(record);
    }
}
