//! The rows of an organisation: created, listed, read, replaced, removed.

use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Page, Put, Record, Store, StoreError, Tag, TenantId};

use crate::program::RowsProgram;
use crate::row::{NewRow, WalletRow};

/// The kind of the records.
const ROW: &str = "remote-wallet-row";
/// The tag of a wallet and a type, by which their rows are listed.
const LISTED: &str = "listed";
/// The most rows of one answer.
pub const ROWS_LISTED: usize = 1_000;

/// How often a change is tried when others change the row at the same time.
const TRIES: usize = 16;

/// The rows of an organisation, for a program with an API key.
pub struct WalletRows {
    /// Numbers rows so that a number reveals nothing of their names.
    pub(crate) naming: SealingKey,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) tenant: TenantId,
    pub(crate) program: RowsProgram,
}

/// A part of the rows of a wallet and a type.
#[derive(Debug)]
pub struct ListedRows {
    /// The rows, oldest first.
    pub rows: Vec<WalletRow>,
    /// Where the next part begins, if there are more.
    pub next: Option<String>,
}

impl WalletRows {
    /// Creates a row.
    ///
    /// # Errors
    /// `Forbidden` without the right to write; `BadRequest` if it does not fit, or its names are taken.
    pub async fn create(&self, new: NewRow) -> Result<WalletRow> {
        self.program.writes.clone()?;
        new.checked()?;
        let row = WalletRow {
            number: self.number(&new.wallet_name, &new.item_type, &new.item_id),
            created: self.clock.now(),
            wallet_name: new.wallet_name,
            item_type: new.item_type,
            item_id: new.item_id,
            item_value: new.item_value,
            creator: self.program.name.clone(),
        };
        let id = record_id(row.number);
        let batch = Batch::new(self.tenant.clone()).expect(ROW, &id, Expect::Absent);
        match self.store.commit(batch.put(put(&row)?)).await {
            Ok(_) => Ok(row),
            Err(StoreError::Conflict { .. }) => Err(Error::bad_request("remote-wallet-taken")),
            Err(other) => Err(other.into()),
        }
    }

    /// The rows of a wallet and a type, after those of an earlier answer.
    ///
    /// # Errors
    /// `Forbidden` without the right to read; `BadRequest` for a cursor that is none.
    pub async fn listed(
        &self,
        wallet_name: &str,
        item_type: &str,
        after: Option<&str>,
    ) -> Result<ListedRows> {
        self.program.reads.clone()?;
        let mut page = Page::first(ROWS_LISTED);
        if let Some(after) = after {
            page = page.after(after);
        }
        let tag = listed(wallet_name, item_type);
        let found = self.store.find(&self.tenant, ROW, &tag, &page).await?;
        let next = found.last().filter(|_| found.len() >= ROWS_LISTED);
        let next = next.map(Record::cursor);
        let rows: Result<Vec<WalletRow>> = found.iter().map(|one| decode(&one.value)).collect();
        Ok(ListedRows { rows: rows?, next })
    }

    /// The row with these names, if there is one.
    ///
    /// # Errors
    /// `Forbidden` without the right to read.
    pub async fn named(
        &self,
        wallet_name: &str,
        item_type: &str,
        item_id: &str,
    ) -> Result<Option<WalletRow>> {
        self.program.reads.clone()?;
        let number = self.number(wallet_name, item_type, item_id);
        let found = self.found(number).await?;
        let found = found.map(|record| decode::<WalletRow>(&record.value));
        let row = found.transpose()?;
        Ok(row.filter(|row| row.is_named(wallet_name, item_type, item_id)))
    }

    /// The row with this number.
    ///
    /// # Errors
    /// `Forbidden` without the right to read; `NotFound`.
    pub async fn row(&self, number: i64) -> Result<WalletRow> {
        self.program.reads.clone()?;
        decode(&self.known(number).await?.value)
    }

    /// Gives a row what `change` makes of it. Its names stay.
    ///
    /// # Errors
    /// `Forbidden` without the right to write; `NotFound`; `BadRequest` if the new row does not fit or has other names;
    /// `Conflict` if others change the row all the time.
    pub async fn change(
        &self,
        number: i64,
        change: impl Fn(&WalletRow) -> Result<NewRow>,
    ) -> Result<WalletRow> {
        self.program.writes.clone()?;
        for _ in 0..TRIES {
            let record = self.known(number).await?;
            let mut row: WalletRow = decode(&record.value)?;
            let new = change(&row)?;
            new.checked()?;
            if !row.is_named(&new.wallet_name, &new.item_type, &new.item_id) {
                return Err(Error::bad_request("remote-wallet-renamed"));
            }
            row.item_value = new.item_value;
            let batch = Batch::new(self.tenant.clone());
            let batch = batch.update(ROW, &record, encode(&row)?);
            match self.store.commit(batch).await {
                Ok(_) => return Ok(row),
                // Somebody else was faster.
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::new(ErrorKind::Conflict, "changed-meanwhile"))
    }

    /// Removes a row.
    ///
    /// # Errors
    /// `Forbidden` without the right to write; `NotFound`.
    pub async fn remove(&self, number: i64) -> Result<()> {
        self.program.writes.clone()?;
        let record = self.known(number).await?;
        let batch = Batch::new(self.tenant.clone()).delete(ROW, &record.id);
        self.store.commit(batch).await?;
        Ok(())
    }

    async fn known(&self, number: i64) -> Result<Record> {
        let found = self.found(number).await?;
        found.ok_or_else(|| Error::not_found("remote-wallet-unknown"))
    }

    async fn found(&self, number: i64) -> Result<Option<Record>> {
        let id = record_id(number);
        Ok(self.store.read(&self.tenant, ROW, &id).await?)
    }

    /// The number of a row: 62 bits, so that two rows of an organisation hardly ever have the same.
    fn number(&self, wallet_name: &str, item_type: &str, item_id: &str) -> i64 {
        let names = [self.tenant.as_str(), wallet_name, item_type, item_id];
        let [a, b, c, d, e, f, g, h, ..] = self.naming.mac(names.join("\0").as_bytes());
        let number = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 2;
        i64::try_from(number).unwrap_or_default()
    }
}

fn put(row: &WalletRow) -> Result<Put> {
    let put = Put::new(ROW, record_id(row.number), encode(row)?);
    Ok(put.tag(listed(&row.wallet_name, &row.item_type)))
}

fn listed(wallet_name: &str, item_type: &str) -> Tag {
    Tag::hashed(LISTED, format!("{wallet_name}\0{item_type}"))
}

fn record_id(number: i64) -> String {
    format!("{number:016x}")
}
