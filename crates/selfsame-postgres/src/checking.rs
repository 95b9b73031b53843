//! The check for damage of a database that no process serves. It reads all rows as of one moment, and writes nothing.

use std::cmp::Ordering;
use std::time::Duration;

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use selfsame_crypto::hash::sum::Tally;
use selfsame_store::backend::{Place, SealedRecord};
use selfsame_store::offline::{Looked, Tell, opens};
use selfsame_store::rotation::KeyTrouble;
use selfsame_store::{Result, StoreError, TenantId, Vault};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::address::Address;
use crate::census::{Census, census};
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::pool::{LONG, SNAPSHOT, connection, pool, stream};
use crate::process::ProcessRow;
use crate::rows::{self, key, tenant_key};
use crate::sequence::Sequence;
use crate::sums::RowSums;
use crate::writer::{RETRY, STALE};
use crate::{guard, layout, schema};

/// The records in a database, read as of one moment.
pub struct ClosedDatabase {
    client: Client,
    vault: Vault,
    sums: RowSums,
}

impl ClosedDatabase {
    /// Opens the records for reading. Waits for a moment if a process may have crashed.
    ///
    /// # Errors
    /// `InUse` if a process serves them, `Foreign` if the schema has no tables of a store, `OtherLayout` if they are of
    /// another release, and `WrongKey` if nothing was written under this key.
    pub async fn open(address: &Address, vault: Vault) -> Result<Self> {
        let opened = async {
            let client = connection(&pool(address, 1)?).await?;
            layout::is_this_release(&client).await?;
            wait_for_processes(&client).await?;
            client.batch_execute(SNAPSHOT).await?;
            client.batch_execute(LONG).await?;
            DatabaseResult::Ok(client)
        };
        let client = opened.await.map_err(DatabaseFailure::into_error)?;
        let mut opened = Self {
            client,
            sums: RowSums::new(vault.sum_key().into()),
            vault,
        };
        match opened.check_key().await {
            Err(StoreError::WrongKey(trouble)) => Err(StoreError::WrongKey(trouble)),
            // Errors are reported by the checks.
            Ok(()) | Err(_) => Ok(opened),
        }
    }

    /// Checks all rows.
    pub async fn look(&self, tell: Tell<'_>) -> Vec<Looked> {
        let pages = "the server checks its own files (pg_amcheck, data checksums)";
        let mut parts = vec![Looked::not("pages", pages)];
        let mut sum = Looked::at("sum");
        tell(sum.what, 0);
        parts.push(through(self.sum(&mut sum).await, sum));
        let mut records = Looked::at("records");
        let mut wanted = Census::default();
        let looked = self.records(&mut records, &mut wanted, tell).await;
        parts.push(through(looked, records));
        let mut outbox = Looked::at("outbox");
        parts.push(through(self.outbox(&mut outbox, tell).await, outbox));
        let mut tags = Looked::at("tags");
        parts.push(through(self.tags(&mut tags, &wanted, tell).await, tags));
        parts
    }

    /// The value of a record, even if it has expired.
    ///
    /// # Errors
    /// If it can't be read or decrypted.
    pub async fn read(&self, tenant: &TenantId, kind: &str, id: &str) -> Result<Option<Vec<u8>>> {
        let place = Place {
            tenant: tenant.clone(),
            kind: kind.to_owned(),
            id: id.to_owned(),
        };
        let (kept, own) = (
            self.kept(key(&place)).await?,
            self.kept(tenant_key(tenant)).await?,
        );
        match kept {
            Some(kept) => self.vault.open_record(&place, &kept, || Ok(own)),
            None => Ok(None),
        }
    }

    /// The values of all records of a kind, even of those that have expired.
    ///
    /// # Errors
    /// If one can't be read or decrypted.
    pub async fn values(&self, tenant: &TenantId, kind: &str) -> Result<Vec<Vec<u8>>> {
        let tenant_name = tenant.as_str();
        let ids = async {
            let rows = self
                .client
                .query(schema::IDS, &[&tenant_name, &kind])
                .await?;
            let ids = rows.into_iter().map(|row| Ok(row.try_get(0)?));
            ids.collect::<DatabaseResult<Vec<String>>>()
        };
        let (ids, mut values) = (ids.await.map_err(DatabaseFailure::into_error)?, Vec::new());
        for id in ids {
            values.extend(self.read(tenant, kind, &id).await?);
        }
        Ok(values)
    }

    /// The number of commits of all processes.
    ///
    /// # Errors
    /// If it can't be read.
    pub async fn generation(&self) -> Result<Option<u64>> {
        let processes = self
            .processes()
            .await
            .map_err(DatabaseFailure::into_error)?;
        let counted = processes.iter().map(|row| row.seat.generation);
        let counted = counted.fold(0, i64::saturating_add);
        Ok((!processes.is_empty()).then_some(counted.cast_unsigned()))
    }

    /// The key is right if the list of master keys or the instance's own key opens with it, or it sealed the row of a
    /// process.
    async fn check_key(&mut self) -> Result<()> {
        let instance = TenantId::instance();
        let list = self.kept(key(&rows::list_place())).await?;
        let own = self.kept(tenant_key(&instance)).await?;
        match self.vault.begin(list.as_ref(), own.as_ref()) {
            Err(StoreError::WrongKey(trouble @ KeyTrouble::Other)) => {
                let processes = self.processes().await;
                let processes = processes.map_err(DatabaseFailure::into_error)?;
                match processes.iter().any(|row| row.check(&self.sums).is_ok()) {
                    true => Ok(()),
                    false => Err(StoreError::WrongKey(trouble)),
                }
            }
            begun => {
                self.sums = RowSums::new(self.vault.sum_key().into());
                begun.map(drop)
            }
        }
    }

    async fn processes(&self) -> DatabaseResult<Vec<ProcessRow>> {
        let rows = self.client.query(schema::PROCESSES, &[]).await?;
        rows.iter().map(ProcessRow::of).collect()
    }

    async fn kept(&self, key: Uuid) -> Result<Option<SealedRecord>> {
        let kept = async {
            let row = self.client.query_opt(schema::ROW, &[&key]).await?;
            row.map(|row| rows::record(&row)).transpose()
        };
        kept.await.map_err(DatabaseFailure::into_error)
    }

    async fn sum(&self, looked: &mut Looked) -> DatabaseResult<()> {
        let (mut summed, mut is_changed) = (Tally::default(), false);
        for row in self.processes().await? {
            is_changed |= row.check(&self.sums).is_err();
            summed = summed.plus(row.seat.tally);
        }
        if is_changed {
            looked.wrong("the sum itself was changed");
        }
        let found = guard::all(&self.client, &self.sums, &Sequence::new(0)).await?;
        looked.seen = found.rows.cast_unsigned();
        let (rows, written) = (found.rows, summed.rows);
        match rows.cmp(&written) {
            Ordering::Less => looked.wrong(format!(
                "rows were removed: there are {rows}, and {written} were written"
            )),
            Ordering::Greater => looked.wrong(format!(
                "rows were put in: there are {rows}, and {written} were written"
            )),
            Ordering::Equal if found.sum != summed.sum => {
                looked.wrong("a row was changed, moved, or put back as it was before");
            }
            Ordering::Equal => {}
        }
        Ok(())
    }

    /// Opens each record, and counts the tags that its own list says it has.
    async fn records(
        &self,
        looked: &mut Looked,
        wanted: &mut Census,
        tell: Tell<'_>,
    ) -> DatabaseResult<()> {
        if let Some(damage) = self.vault.list_damage() {
            looked.wrong(damage);
        }
        let found = stream(&self.client, schema::RECORDS_AND_KEYS).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.try_next().await? {
            looked.one(tell);
            let (place, sealed) = (rows::place(&row, 0)?, rows::record_at(&row, 2)?);
            let (number, kind) = (sealed.seq, &place.kind);
            let opened = self
                .vault
                .open_record(&place, &sealed, || joined_key(&row, 9));
            if opened.is_err() {
                looked.unopened(&format!("record {number} (kind {kind:?})"));
            }
            let (tags, at): (&[u8], Uuid) = (row.try_get(7)?, row.try_get(8)?);
            if at != key(&place) {
                looked.wrong(format!(
                    "record {number} (kind {kind:?}) is not found where it belongs"
                ));
            }
            wanted.add_tags(tags, sealed.seq, at);
        }
        Ok(())
    }

    async fn outbox(&self, looked: &mut Looked, tell: Tell<'_>) -> DatabaseResult<()> {
        let found = stream(&self.client, schema::ENTRIES_AND_KEYS).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.try_next().await? {
            looked.one(tell);
            let entry = rows::entry(&row)?;
            if opens(&self.vault, &entry, || joined_key(&row, 7)).is_err() {
                looked.unopened(&format!("entry {} of the outbox", entry.id));
            }
        }
        let headless = self.client.query_one(schema::HEADLESS, &[]).await?;
        let headless: i64 = headless.try_get(0)?;
        if headless > 0 {
            looked.wrong(format!(
                "{headless} receivers have calls of which none is the next, so none is sent"
            ));
        }
        Ok(())
    }

    /// Compares the index of tags with the records' own lists.
    async fn tags(
        &self,
        looked: &mut Looked,
        wanted: &Census,
        tell: Tell<'_>,
    ) -> DatabaseResult<()> {
        tell(looked.what, 0);
        let found = census(&self.client, &[schema::TAG_ROWS]).await?;
        looked.seen = wanted.rows();
        if let Some(difference) = wanted.difference(&found) {
            looked.wrong(format!(
                "the index of tags is not that of the records: {difference}"
            ));
        }
        Ok(())
    }
}

/// A part, after a look that may not have come to its end.
fn through(look: DatabaseResult<()>, mut looked: Looked) -> Looked {
    if let Err(failure) = look {
        let error = failure.into_error();
        looked.wrong(format!("it can't be read to its end: {error}"));
    }
    looked
}

/// The row with the tenant's key, joined to a row from this column on.
fn joined_key(row: &Row, first: usize) -> Result<Option<SealedRecord>> {
    let read = || match row.try_get::<_, Option<&str>>(first)? {
        Some(_) => rows::record_at(row, first).map(Some),
        None => Ok(None),
    };
    read().map_err(DatabaseFailure::into_error)
}

/// Waits until no process serves the records: each says every few seconds that it is alive.
///
/// # Errors
/// `InUse` if one goes on to.
async fn wait_for_processes(client: &Client) -> DatabaseResult<()> {
    let mut waited = Duration::ZERO;
    loop {
        let live = client
            .query_one(schema::LIVE_PROCESSES, &[&Uuid::nil()])
            .await?;
        if live.try_get::<_, i64>(0)? == 0 {
            return Ok(());
        }
        if waited >= STALE {
            let in_use = StoreError::InUse("the database".into());
            return Err(DatabaseFailure::Final(in_use));
        }
        tokio::time::sleep(RETRY).await;
        waited += RETRY;
    }
}
