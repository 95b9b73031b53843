//! The import of a moved tenant. Its rows go in portion by portion, each of them as it was stored; the last commit makes
//! the organisation known, with the entry of the audit trail. Until then no process knows of the tenant, so what others
//! hold in memory can't be stale, and an import that was cut off is run again.

mod filling;

use std::io::BufRead;

use selfsame_audit::{AuditResult, Trail};
use selfsame_core::organisation::MovingOrganisation;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, hash};
use selfsame_store::backend::{KEY_KIND, SealedRecord, Write};
use selfsame_store::offline::Tell;
use selfsame_store::{Batch, Expect, Put, Store, TenantId};
use serde::Serialize;

use crate::error::MoveError;
use crate::export::act;
use crate::line::{FileHeader, LineReader, LineSeal, ReadLine};
use crate::part::{MovedEntry, MovedPart, MovedRecord};
use crate::rows::RowSource;
use crate::tally::KindTally;

pub use filling::{FaultyLine, FilledTenant, LineFault};

/// The kind of the records that note which imports were begun. Each is of the instance.
const ARRIVING: &str = "tenant_arriving";
/// The advance of every counter, as at the restore of a backup: more than the other instance uses after the export.
const LEAP: u64 = 1 << 32;
/// The rows that one commit of a discarded import removes.
const PORTION: usize = 1_000;

/// A file that is being imported.
pub struct TenantImport<R> {
    lines: LineReader<R>,
    seal: LineSeal,
    /// What tells this file from another one with the same tenant.
    file: [u8; 32],
    /// The row with the tenant's key, wrapped by the vault of the file.
    key: SealedRecord,
    organisation: MovingOrganisation,
}

/// What an import did.
#[derive(Clone, Debug, Serialize)]
pub struct Arrived {
    /// The organisation.
    pub organisation: String,
    /// The tenant.
    pub tenant: String,
    /// Whether all of the file is in, and the organisation is known.
    pub complete: bool,
    /// The records of the file that this import wrote.
    pub new: u64,
    /// Those that were there already.
    pub already: u64,
    /// Those that have expired, which were passed over.
    pub expired: u64,
    /// The sum of the hashes of the records, which is the same in the file and in the instance.
    pub hash: String,
    /// The records by kind.
    pub kinds: Vec<KindTally>,
    /// The counters.
    pub counters: u64,
    /// The calls to be made.
    pub calls: u64,
    /// The tails files of its revocation registries.
    pub tails: u64,
    /// Lines that are not in the file although others follow.
    pub missing: u64,
    /// Lines that did not go in.
    pub faulty: u64,
    /// The first of them.
    pub faults: Vec<FaultyLine>,
}

/// Where the records go, when, and where progress is told.
pub struct ImportTerms<'a> {
    /// The records of the instance.
    pub source: &'a RowSource,
    /// Now: what has expired by then is passed over.
    pub now: UnixTime,
    /// Told how many lines were read.
    pub tell: Tell<'a>,
}

impl<R: BufRead> TenantImport<R> {
    /// Opens a file: reads its first two lines.
    ///
    /// # Errors
    /// `Foreign`, `OtherVersion` and `KeyWrong`; `Refused` for an organisation that can't be moved; `Io`.
    pub fn open(from: R, passphrase: &SecretString) -> Result<Self, MoveError> {
        let mut lines = LineReader::new(from);
        let header = FileHeader::parse(&first(&mut lines)?)?;
        let seal = header.seal(passphrase)?;
        let opened = seal.open(&first(&mut lines)?);
        let opened = opened.map_err(|_| MoveError::KeyWrong)?;
        let Some(MovedPart::Tenant {
            version,
            key,
            name,
            record,
        }) = MovedPart::parse(&opened.plain)
        else {
            return Err(MoveError::KeyWrong);
        };
        let organisation = MovingOrganisation::parse(&name, &record)?;
        if *organisation.tenant() != header.tenant {
            return Err(MoveError::Foreign("its first two lines name two tenants"));
        }
        Ok(Self {
            lines,
            seal,
            file: hash::sha256(header.to_line().as_bytes()),
            key: SealedRecord {
                id: String::new(),
                seq: 0,
                version,
                expires: None,
                value: key,
            },
            organisation,
        })
    }

    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        self.organisation.tenant()
    }

    /// Takes the lines in. Those that are there already stay, and those that can't go in are named.
    ///
    /// # Errors
    /// `There` and `Refused` if the instance has the tenant, its name or its host; `Unfinished` for another file; the
    /// store's.
    pub async fn fill(
        &mut self,
        store: &Store,
        terms: &ImportTerms<'_>,
    ) -> Result<FilledTenant, MoveError> {
        self.begin(store).await?;
        filling::fill(self, store, terms).await
    }

    /// Notes which file is imported, and takes the tenant's key over.
    async fn begin(&self, store: &Store) -> Result<(), MoveError> {
        let (instance, tenant) = (TenantId::instance(), self.tenant());
        let noted = store.read(&instance, ARRIVING, tenant.as_str()).await?;
        let has_key = store.version(tenant, KEY_KIND, "").await?.is_some();
        match noted {
            Some(noted) if noted.value == self.file => {}
            Some(_) => return Err(MoveError::Unfinished),
            None => {
                if has_key {
                    return Err(MoveError::There);
                }
                self.organisation.is_free(store).await?;
                let put = Put::new(ARRIVING, tenant.as_str(), self.file.to_vec());
                let batch = Batch::new(instance).expect(ARRIVING, tenant.as_str(), Expect::Absent);
                store.commit(batch.put(put)).await?;
            }
        }
        if has_key {
            return Ok(());
        }
        let writes = store.moved_key(tenant, &self.key, &self.seal.vault)?;
        let batch = Batch::new(tenant.clone());
        Ok(store.adopt(writes, batch).await?)
    }

    /// Whether a record of the file opens with the tenant's key.
    fn opens(&self, record: &MovedRecord) -> bool {
        let sealed = SealedRecord {
            id: record.id.clone(),
            seq: 0,
            version: record.version,
            expires: record.expires,
            value: record.value.clone(),
        };
        let (place, key) = (record.place(self.tenant()), || Ok(Some(self.key.clone())));
        let opened = self.seal.vault.open_record(&place, &sealed, key);
        opened.is_ok_and(|plain| plain.is_some())
    }

    /// Whether a call of the file opens with the tenant's key.
    fn opens_call(&self, entry: &MovedEntry) -> bool {
        let entry = entry.clone().into_entry(self.tenant());
        let key = || Ok(Some(self.key.clone()));
        selfsame_store::offline::opens(&self.seal.vault, &entry, key).is_ok()
    }

    /// Compares the rows that are there with those of the file. The store is closed meanwhile if it is a file.
    ///
    /// # Errors
    /// `Different`; the errors of [`RowSource::tally`].
    pub async fn compare(
        &self,
        source: &RowSource,
        filled: &FilledTenant,
    ) -> Result<(), MoveError> {
        let there = source.tally(self.tenant(), filled.now).await?;
        match filled.there.difference(&there) {
            Some(difference) => Err(MoveError::Different(difference)),
            None => Ok(()),
        }
    }

    /// Makes the organisation known, if all of the file is in.
    ///
    /// # Errors
    /// `Refused` if the name or the host was taken meanwhile; the store's.
    pub async fn finish(
        &self,
        store: &Store,
        trail: &Trail,
        filled: FilledTenant,
    ) -> Result<Arrived, MoveError> {
        let complete = filled.is_whole();
        let arrived = Arrived {
            organisation: self.organisation.name().to_string(),
            tenant: self.tenant().to_string(),
            complete,
            new: filled.new,
            already: filled.already,
            expired: filled.expired,
            hash: filled.there.hash(),
            kinds: filled.there.kinds(),
            counters: count(filled.counters.len()),
            calls: count(filled.entries.len()),
            tails: filled.tails,
            missing: filled.missing,
            faulty: filled.faulty,
            faults: filled.faults,
        };
        if complete {
            let tenant = self.tenant();
            let done = trail.entry(
                act("IMPORT /organisations/{name}", &self.organisation),
                AuditResult::Done,
            )?;
            let batch = (self.organisation.arrival()?)
                .and(selfsame_webhooks::arrival(store, tenant).await?)
                .and(selfsame_book_role::arrival(store, tenant).await?)
                .and(done)
                .and(Batch::new(TenantId::instance()).delete(ARRIVING, tenant.as_str()));
            let counters = filled.counters.into_iter().map(|counter| {
                let next = counter.next.saturating_add(LEAP);
                Write::Reserve(tenant.clone(), counter.name, next)
            });
            let entries = filled.entries.into_iter();
            let entries = entries.map(|entry| Write::Enqueue(entry.into_entry(tenant)));
            store
                .adopt(counters.chain(entries).collect(), batch)
                .await?;
        }
        Ok(arrived)
    }
}

/// One of the first two lines.
fn first(lines: &mut LineReader<impl BufRead>) -> Result<Vec<u8>, MoveError> {
    match lines.next_line()? {
        Some(ReadLine::Bytes(line)) => Ok(line),
        Some(ReadLine::TooLong) => {
            Err(MoveError::Foreign("one of its first two lines is too long"))
        }
        None => Err(MoveError::Foreign("it ends before its second line")),
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Removes what an import that was not finished has left of a tenant.
///
/// # Errors
/// `NothingBegun` if there is no such import; the store's.
pub async fn discard(store: &Store, tenant: &TenantId, tell: Tell<'_>) -> Result<u64, MoveError> {
    let instance = TenantId::instance();
    let noted = store.read(&instance, ARRIVING, tenant.as_str()).await?;
    if noted.is_none() {
        return Err(MoveError::NothingBegun);
    }
    let mut removed = 0_u64;
    loop {
        let portion = store.destroy(tenant, PORTION).await?;
        removed = removed.saturating_add(portion);
        tell("rows removed", removed);
        if portion == 0 {
            break;
        }
    }
    let batch = Batch::new(instance).delete(ARRIVING, tenant.as_str());
    store.commit(batch).await?;
    Ok(removed)
}
