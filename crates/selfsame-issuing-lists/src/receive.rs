//! Receives the file of a list in portions, and checks each row as its offer will be.

use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_openid::OrganisationRoles;
use selfsame_openid::issuer::{OfferDesk, OfferDrafts};
use selfsame_sheets::{TableCell, TableItem};
use selfsame_store::Batch;
use selfsame_types::CredentialType;
use std::sync::Arc;

use crate::columns::{RowPlaces, columns, object_row, refused, row};
use crate::lists::IssuingLists;
use crate::record::{
    CHUNK_BYTES, CHUNK_ROWS, ListRow, NotedList, ROWS_MAX, ReferenceDigest, ReferenceDigests,
    RowChunk, StoredList, chunk_id, list_record,
};
use crate::view::{IssuingList, ListFault, ListState};

/// A portion of a file.
#[derive(Clone, Debug)]
pub struct FilePortion {
    /// The number of bytes before it.
    pub from: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A list with what a portion added to it, until that is committed.
pub(crate) struct Receiving {
    pub stored: StoredList,
    pub digests: ReferenceDigests,
    chunks: Vec<RowChunk>,
    /// The bytes of the claims of the last chunk.
    bytes: usize,
    desk: OfferDesk,
    one: Arc<CredentialType>,
}

impl IssuingLists {
    /// Receives a portion of a file. One that was received already changes nothing, so that a portion can be sent again.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` for a list whose file is complete, and for a portion that leaves bytes out.
    pub async fn receive(
        &self,
        roles: &OrganisationRoles,
        id: &str,
        portion: FilePortion,
    ) -> Result<IssuingList> {
        let at = self.at(roles, id);
        let receiving = self.receiving(roles, &at).await?;
        let received = receiving.stored.list.received;
        let length = u64::try_from(portion.bytes.len()).unwrap_or(u64::MAX);
        let end = portion.from.saturating_add(length);
        if end <= received {
            return Ok(receiving.stored.list.view(id));
        }
        if portion.from != received {
            return Err(Error::new(ErrorKind::Conflict, "list-offset").with("expected", &received));
        }
        let mut receiving = self
            .read(receiving, move |receiving| {
                let reader = receiving.stored.list.reader.as_mut();
                let items = reader.map(|reader| reader.feed(&portion.bytes));
                receiving.take(items.unwrap_or_default())
            })
            .await?;
        receiving.stored.list.received = end;
        let batch = receiving.puts(Batch::new(at.tenant.clone()), &at)?;
        self.committed(receiving.stored.written_in(batch, id)?)
            .await?;
        Ok(receiving.stored.list.view(id))
    }

    /// A list whose file was received whole, with its last row.
    pub(crate) async fn received(
        &self,
        roles: &OrganisationRoles,
        at: &NotedList,
    ) -> Result<Receiving> {
        let receiving = self.receiving(roles, at).await?;
        self.read(receiving, |receiving| {
            let reader = receiving.stored.list.reader.as_mut();
            let items = reader.map(|reader| reader.end());
            receiving.take(items.unwrap_or_default())
        })
        .await
    }

    async fn receiving(&self, roles: &OrganisationRoles, at: &NotedList) -> Result<Receiving> {
        let stored = list_record(&self.shared.store, at).await?;
        if stored.list.state != ListState::Receiving {
            return Err(Error::new(ErrorKind::Conflict, "list-received"));
        }
        let issuer = roles.issuer()?;
        let one = issuer.types().all().await?;
        let one = one.find(&stored.list.new.type_id)?.clone();
        Ok(Receiving {
            stored,
            digests: ReferenceDigests::default(),
            chunks: Vec::new(),
            bytes: 0,
            desk: issuer.desk().await?,
            one,
        })
    }

    /// Reads rows where it does not hold up other requests.
    async fn read(
        &self,
        mut receiving: Receiving,
        read: impl FnOnce(&mut Receiving) -> Result<()> + Send + 'static,
    ) -> Result<Receiving> {
        let reading = self.shared.reading.run_in_turn(move || {
            read(&mut receiving)?;
            Ok(receiving)
        });
        reading.await?
    }
}

impl Receiving {
    /// Adds the rows and the references to a batch.
    pub fn puts(&mut self, mut batch: Batch, at: &NotedList) -> Result<Batch> {
        let list = &mut self.stored.list;
        let until = list.kept_until();
        // Of a file with a fault nothing will be offered; its references are still compared.
        let is_sound = list.faults == 0;
        let chunks = std::mem::take(&mut self.chunks);
        for chunk in chunks.into_iter().filter(|_| is_sound) {
            batch = batch.put(chunk.put(&chunk_id(&at.id, list.chunks), until)?);
            list.chunks = list.chunks.saturating_add(1);
        }
        if !self.digests.0.is_empty() {
            let id = chunk_id(&at.id, list.portions);
            batch = batch.put(self.digests.put(&id, until));
            list.portions = list.portions.saturating_add(1);
        }
        Ok(batch)
    }

    fn take(&mut self, items: Vec<TableItem>) -> Result<()> {
        for item in items {
            match item {
                TableItem::Fault(fault) => self.stored.list.fault(fault),
                TableItem::Header(cells) => self.header(&cells),
                TableItem::Cells(cells) => self.cells(cells)?,
                TableItem::Object(object) => {
                    let places = RowPlaces::object(object.line);
                    self.row(object_row(object.line, object.members), &places)?;
                }
            }
        }
        Ok(())
    }

    fn header(&mut self, cells: &[TableCell]) {
        match columns(cells, &self.one) {
            Ok(columns) => self.stored.list.columns = columns,
            Err(fault) => self.stored.list.note(fault),
        }
    }

    fn cells(&mut self, cells: Vec<TableCell>) -> Result<()> {
        let columns = &self.stored.list.columns;
        if columns.is_empty() {
            // The header is wrong, which was told.
            return Ok(());
        }
        let places = RowPlaces::of(columns, &cells);
        let read = row(columns, cells);
        self.row(read, &places)
    }

    /// Checks a row as its offer will be.
    fn row(&mut self, read: std::result::Result<ListRow, ListFault>, at: &RowPlaces) -> Result<()> {
        let list = &mut self.stored.list;
        list.rows = list.rows.saturating_add(1);
        let row = match read {
            Ok(row) => row,
            Err(fault) => {
                list.note(fault);
                return Ok(());
            }
        };
        if let Some(fault) = unfit(&row, list.rows, list.new.mail) {
            list.note(fault);
            return Ok(());
        }
        let offer = list.offer(&row);
        if let Err(error) = self.desk.draft(&offer, &mut OfferDrafts::default()) {
            list.note(refused(at, error)?);
            return Ok(());
        }
        if let Some(reference) = &row.reference {
            let digest = ReferenceDigest::of(reference, at.reference());
            self.digests.0.push(digest);
        }
        self.keep(row);
        Ok(())
    }

    /// Puts a row into the last chunk that has room.
    fn keep(&mut self, row: ListRow) {
        let bytes = serde_json::to_vec(&row).map_or(0, |row| row.len());
        let has_room = |chunk: &RowChunk| {
            chunk.rows.len() < CHUNK_ROWS && self.bytes.saturating_add(bytes) <= CHUNK_BYTES
        };
        match self.chunks.last_mut() {
            Some(chunk) if has_room(chunk) => {
                self.bytes = self.bytes.saturating_add(bytes);
                chunk.rows.push(row);
            }
            _ => {
                self.bytes = bytes;
                self.chunks.push(RowChunk {
                    before: self.stored.list.rows.saturating_sub(1),
                    rows: vec![row],
                    results: Vec::new(),
                });
            }
        }
    }
}

/// What is wrong with a row besides its claims. `number` counts the rows.
fn unfit(row: &ListRow, number: u64, is_mailed: bool) -> Option<ListFault> {
    let why = if number > ROWS_MAX {
        Reason::new("list-rows-many").with("most", &ROWS_MAX)
    } else if is_mailed && row.email.is_none() {
        Reason::new("list-address-missing")
    } else {
        return None;
    };
    Some(ListFault {
        line: row.line,
        column: 1,
        why,
    })
}
