//! The rows of a tenant, read from either back end.

use std::path::PathBuf;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_postgres::{Address, tenant_rows};
use selfsame_store::backend::{KEY_KIND, SealedRecord};
use selfsame_store::offline::{FileRow, StoreFile};
use selfsame_store::{StoreError, TenantId, Vault};

use crate::tally::{RowTally, moved};

/// Where an instance keeps its records.
#[derive(Clone)]
pub enum KeptIn {
    /// A file of SQLite, which no process has open.
    File(PathBuf),
    /// A database of PostgreSQL, which processes may serve.
    Database(Box<Address>),
}

/// The records of an instance, and their master key.
#[derive(Clone)]
pub struct RowSource {
    /// Where they are.
    pub kept_in: KeptIn,
    /// The master key.
    pub master: SealingKey,
}

impl RowSource {
    /// The vault with the master key.
    #[must_use]
    pub fn vault(&self) -> Vault {
        Vault::from_master(self.master.clone())
    }

    /// Hands over the rows of a tenant. Events are left out.
    ///
    /// # Errors
    /// `InUse` if a process has the file open; those of `take`; if the records can't be read.
    pub async fn rows(
        &self,
        tenant: &TenantId,
        mut take: impl FnMut(FileRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match &self.kept_in {
            KeptIn::Database(address) => tenant_rows(address, tenant, take).await,
            KeptIn::File(file) => StoreFile::open(file, self.vault())?.rows(|row| {
                let owner = match &row {
                    FileRow::Record(place, ..) => &place.tenant,
                    FileRow::Counter(owner, ..) => owner,
                    FileRow::Entry(entry, ..) => &entry.tenant,
                    FileRow::Letter(letter) => &letter.entry.tenant,
                    FileRow::Event(_) => return Ok(()),
                };
                match owner == tenant {
                    true => take(row),
                    false => Ok(()),
                }
            }),
        }
    }

    /// The row with a tenant's key.
    ///
    /// # Errors
    /// `Tampered` if the row is missing; as [`Self::rows`].
    pub(crate) async fn key_row(&self, tenant: &TenantId) -> Result<SealedRecord, StoreError> {
        let mut found = None;
        let take = |row| match row {
            FileRow::Record(place, sealed, _) if place.kind == KEY_KIND => {
                found = Some(sealed);
                Err(StoreError::Malformed("row: no further one is wanted"))
            }
            _ => Ok(()),
        };
        let read = self.rows(tenant, take).await;
        match found {
            Some(found) => Ok(found),
            None => read.and(Err(StoreError::Tampered("key"))),
        }
    }

    /// Counts and hashes the records of a tenant that have not expired at this time.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub async fn tally(&self, tenant: &TenantId, now: UnixTime) -> Result<RowTally, StoreError> {
        let mut tally = RowTally::default();
        let take = |row| {
            if let Some(record) =
                moved(row).filter(|record| record.expires.is_none_or(|at| at > now))
            {
                tally.add(&record);
            }
            Ok(())
        };
        self.rows(tenant, take).await?;
        Ok(tally)
    }
}
