//! The export of an organisation: all rows of its tenant, as they are stored, and the key that sealed them.

use std::io::Write;

use selfsame_anoncreds_wallet::revocation::moving;
use selfsame_audit::{Act, AuditResult, AuditedActor, Trail};
use selfsame_core::organisation::{MovingOrganisation, OrganisationName};
use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::KEY_KIND;
use selfsame_store::offline::{FileRow, Tell};
use selfsame_store::{Store, StoreError};
use serde::Serialize;

use crate::error::MoveError;
use crate::line::{FileHeader, LineSeal};
use crate::part::{MovedEnd, MovedEntry, MovedPart, MovedRecord, MovedTails};
use crate::rows::RowSource;
use crate::tally::{KindTally, RowTally};

/// The number of calls that one commit of the other instance can take.
const CALLS_MAX: usize = 2_000;
/// Bytes of a tails file on one line.
const TAILS_BYTES: usize = 1 << 20;

/// An organisation that is about to leave an instance.
pub struct Leaving {
    organisation: MovingOrganisation,
}

/// What was written into a file.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// The organisation.
    pub organisation: String,
    /// The tenant.
    pub tenant: String,
    /// The lines of the file.
    pub lines: u64,
    /// The records.
    pub records: u64,
    /// The sum of their hashes.
    pub hash: String,
    /// The same by kind.
    pub kinds: Vec<KindTally>,
    /// The counters.
    pub counters: u64,
    /// The calls to be made.
    pub calls: u64,
    /// The calls that were given up, which stay behind.
    pub given_up: u64,
    /// The records that have expired, which stay behind.
    pub expired: u64,
    /// The tails files of its revocation registries.
    pub tails: u64,
}

impl Leaving {
    /// An organisation of the instance with this store.
    ///
    /// # Errors
    /// `Refused` for an organisation that can't be moved; the store's.
    pub async fn prepare(store: &Store, name: &OrganisationName) -> Result<Self, MoveError> {
        let organisation = MovingOrganisation::leaving(store, name).await?;
        Ok(Self { organisation })
    }

    /// Notes in the audit trail that the organisation's data are exported.
    ///
    /// # Errors
    /// The store's.
    pub async fn note(&self, store: &Store, trail: &Trail) -> Result<(), MoveError> {
        let act = act("EXPORT /organisations/{name}", &self.organisation);
        store.commit(trail.entry(act, AuditResult::Done)?).await?;
        Ok(())
    }
}

/// An act for the audit trail of the instance.
pub(crate) fn act(act: &str, organisation: &MovingOrganisation) -> Act {
    Act {
        organisation: OrganisationName::main(),
        actor: AuditedActor::instance(),
        act: act.to_owned(),
        object: Some(organisation.name().to_string()),
        detail: None,
        from: None,
    }
}

/// The passphrase of a file, the time, and where progress is told.
pub struct ExportTerms<'a> {
    /// The passphrase that opens the file.
    pub passphrase: &'a SecretString,
    /// Now: what has expired by then stays behind.
    pub now: UnixTime,
    /// Told how many rows were written.
    pub tell: Tell<'a>,
}

/// A file that is being written.
pub struct TenantExport<'a, W: ?Sized> {
    leaving: &'a Leaving,
    seal: LineSeal,
    out: &'a mut W,
    lines: u64,
    tally: RowTally,
    counters: u64,
    calls: usize,
    given_up: u64,
    expired: u64,
    tails: u64,
    /// Why a row was not written; the reader of the rows only knows that it is to stop.
    failed: Option<MoveError>,
}

impl<'a, W: Write + ?Sized> TenantExport<'a, W> {
    /// Writes the header and all rows of a tenant. If the records are in a file, the store is closed meanwhile.
    ///
    /// # Errors
    /// `Io` if the file can't be written; the errors of [`RowSource::rows`].
    pub async fn of_rows(
        leaving: &'a Leaving,
        source: &RowSource,
        out: &'a mut W,
        terms: &ExportTerms<'_>,
    ) -> Result<Self, MoveError> {
        let tenant = leaving.organisation.tenant();
        let header = FileHeader::draw(tenant.clone());
        let seal = header.seal(terms.passphrase)?;
        let key = source.key_row(tenant).await?;
        let (version, key) = seal.vault.rewrapped(tenant, &key, &source.vault())?;
        let mut file = Self {
            leaving,
            seal,
            out,
            lines: 1,
            tally: RowTally::default(),
            counters: 0,
            calls: 0,
            given_up: 0,
            expired: 0,
            tails: 0,
            failed: None,
        };
        writeln!(file.out, "{}", header.to_line())?;
        file.part(&MovedPart::Tenant {
            version,
            key,
            name: leaving.organisation.name().to_string(),
            record: leaving.organisation.to_bytes()?,
        })?;
        let read = source.rows(tenant, |row| file.row(row, terms)).await;
        if let Some(failed) = file.failed.take() {
            return Err(failed);
        }
        read?;
        Ok(file)
    }

    /// Writes the tails files of the tenant's revocation registries, which are public and so no rows of the tenant, and
    /// the last line.
    ///
    /// # Errors
    /// `Io` if the file can't be written; `Calls` for an outbox that is too long; the store's.
    pub async fn finish(mut self, store: &Store) -> Result<Exported, MoveError> {
        let hashes = moving::hashes(store, self.leaving.organisation.tenant()).await?;
        for hash in hashes {
            // A file that was never kept here is fetched from where the registry says, by the other instance too.
            let Some(bytes) = moving::file(store, &hash).await? else {
                continue;
            };
            let mut parts = bytes.chunks(TAILS_BYTES).peekable();
            while let Some(part) = parts.next() {
                let tails = MovedTails {
                    bytes: part.to_vec(),
                    is_last: parts.peek().is_none(),
                };
                self.part(&MovedPart::Tails(tails))?;
            }
            self.tails = self.tails.saturating_add(1);
        }
        self.end()
    }

    fn part(&mut self, part: &MovedPart) -> Result<(), MoveError> {
        let number = self.lines.saturating_add(1);
        let line = self.seal.line(number, part.to_bytes().expose())?;
        writeln!(self.out, "{line}")?;
        self.lines = number;
        Ok(())
    }

    fn row(&mut self, row: FileRow, terms: &ExportTerms<'_>) -> Result<(), StoreError> {
        (terms.tell)("rows written", self.lines);
        let written = match row {
            FileRow::Record(place, ..) if place.kind == KEY_KIND => Ok(()),
            FileRow::Record(_, sealed, _) if sealed.expires.is_some_and(|at| at <= terms.now) => {
                self.expired = self.expired.saturating_add(1);
                Ok(())
            }
            FileRow::Record(place, sealed, tags) => {
                let record = MovedRecord::of(place.kind, sealed, tags);
                self.tally.add(&record);
                self.part(&MovedPart::Record(record))
            }
            FileRow::Counter(_, name, next) => {
                self.counters = self.counters.saturating_add(1);
                self.part(&MovedPart::Counter { name, next })
            }
            FileRow::Entry(entry, ..) => {
                self.calls = self.calls.saturating_add(1);
                self.part(&MovedPart::Entry(MovedEntry::of(entry)))
            }
            FileRow::Letter(_) => {
                self.given_up = self.given_up.saturating_add(1);
                Ok(())
            }
            FileRow::Event(_) => Ok(()),
        };
        written.map_err(|error| {
            self.failed = Some(error);
            StoreError::Storage("the file can't be written".to_owned())
        })
    }

    fn end(mut self) -> Result<Exported, MoveError> {
        if self.calls > CALLS_MAX {
            return Err(MoveError::Calls(self.calls));
        }
        let entries = u64::try_from(self.calls).unwrap_or(u64::MAX);
        self.part(&MovedPart::End(MovedEnd {
            records: self.tally.count(),
            sum: self.tally.sum(),
            counters: self.counters,
            entries,
            tails: self.tails,
        }))?;
        self.out.flush()?;
        let organisation = &self.leaving.organisation;
        Ok(Exported {
            organisation: organisation.name().to_string(),
            tenant: organisation.tenant().to_string(),
            lines: self.lines,
            records: self.tally.count(),
            hash: self.tally.hash(),
            kinds: self.tally.kinds(),
            counters: self.counters,
            calls: entries,
            given_up: self.given_up,
            expired: self.expired,
            tails: self.tails,
        })
    }
}
