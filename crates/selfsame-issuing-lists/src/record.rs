//! What is stored of a list: itself, and its rows in chunks.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Reason, Result};
use selfsame_openid::view::issuer::{NewOffer, Offer};
use selfsame_sheets::{FaultKind, TableFault, TableKind, TableReader};
use selfsame_store::{Batch, Put, Store, TenantId};
use serde::{Deserialize, Serialize};

use crate::columns::{CellPlace, Column};
pub(crate) use crate::row::ListRow;
use crate::view::{
    IssuingList, ListFault, ListKind, ListResult, ListState, NewIssuingList, RowState,
};

/// The kind of the records of lists.
pub(crate) const LIST: &str = "issuing_list";
/// The kind of the records of their rows.
pub(crate) const CHUNK: &str = "issuing_list_rows";
/// The kind of the records of the references of a portion's rows.
pub(crate) const NAMES: &str = "issuing_list_names";
/// The kind of the notes about lists that are worked on.
pub(crate) const RUNNING: &str = "issuing_list_running";
/// The kind of the records of turns.
pub(crate) const TURN: &str = "issuing_list_turn";

/// The most rows of a list.
pub(crate) const ROWS_MAX: u64 = 1_000_000;
/// The rows of a chunk, whose offers are made in one commit.
pub(crate) const CHUNK_ROWS: usize = 250;
/// The bytes of claims after which a chunk ends early.
pub(crate) const CHUNK_BYTES: usize = 512 * 1024;
/// The faults that are named.
const NAMED_MAX: usize = 100;
/// Seconds for which an offer can be accepted, if nothing else is wanted: 30 days.
const LIFETIME: u64 = 30 * 24 * 3600;
/// Seconds for which a list is kept after its offers end.
const KEPT_AFTER: u64 = 7 * 24 * 3600;

/// A list as it is stored.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct ListRecord {
    pub new: NewIssuingList,
    pub state: ListState,
    pub began: UnixTime,
    pub ended: Option<UnixTime>,
    pub received: u64,
    /// Absent once the whole file was read.
    pub reader: Option<TableReader>,
    /// What the columns of CSV mean.
    pub columns: Vec<Column>,
    pub rows: u64,
    pub chunks: u64,
    /// How many portions have references.
    pub portions: u64,
    pub faults: u64,
    pub first: Vec<ListFault>,
    /// The chunk whose offers are made next, then the one whose mail is sent next.
    pub next: u64,
    pub offered: u64,
    pub refused: u64,
    pub mailed: u64,
    pub mail_failed: u64,
    /// How often the mail server was away in succession, and when it is tried again.
    pub away: u32,
    pub not_before: UnixTime,
}

impl ListRecord {
    pub fn begun(new: &NewIssuingList, began: UnixTime) -> Self {
        let kind = match new.kind {
            ListKind::Csv => TableKind::Csv,
            ListKind::Ndjson => TableKind::Ndjson,
        };
        Self {
            new: new.clone(),
            state: ListState::Receiving,
            began,
            ended: None,
            received: 0,
            reader: Some(TableReader::new(kind)),
            columns: Vec::new(),
            rows: 0,
            chunks: 0,
            portions: 0,
            faults: 0,
            first: Vec::new(),
            next: 0,
            offered: 0,
            refused: 0,
            mailed: 0,
            mail_failed: 0,
            away: 0,
            not_before: began,
        }
    }

    pub fn lifetime(&self) -> u64 {
        self.new.expires_in.unwrap_or(LIFETIME)
    }

    /// When it is forgotten.
    pub fn kept_until(&self) -> UnixTime {
        let lifetime = self.lifetime().saturating_add(KEPT_AFTER);
        self.began.plus(lifetime)
    }

    pub fn put(&self, id: &str) -> Result<Put> {
        Ok(Put::new(LIST, id, encode(self)?).expires(self.kept_until()))
    }

    /// Notes a fault of the table.
    pub fn fault(&mut self, fault: TableFault) {
        let TableFault { line, column, kind } = fault;
        let why = reason_of(kind);
        self.note(ListFault { line, column, why });
    }

    /// Notes a fault.
    pub fn note(&mut self, fault: ListFault) {
        self.faults = self.faults.saturating_add(1);
        if self.first.len() < NAMED_MAX {
            self.first.push(fault);
        }
    }

    /// The offer of a row.
    pub fn offer(&self, row: &ListRow) -> NewOffer {
        NewOffer {
            type_id: self.new.type_id.clone(),
            format: self.new.format.clone(),
            claims: row.claims.clone(),
            examples: false,
            uses: None,
            tx_code: self.new.tx_code,
            by_sign_in: false,
            needs_approval: None,
            by_reference: true,
            expires_in: Some(self.lifetime()),
            label: row.reference.clone(),
        }
    }

    pub fn view(&self, id: &str) -> IssuingList {
        IssuingList {
            id: id.to_owned(),
            type_id: self.new.type_id.clone(),
            name: self.new.name.clone(),
            digest: self.new.digest.clone(),
            state: self.state,
            received: self.received,
            rows: self.rows,
            offered: self.offered,
            refused: self.refused,
            mailed: self.mailed,
            mail_failed: self.mail_failed,
            faults: self.faults,
            first_faults: self.first.clone(),
            created: self.began.rfc3339(),
            ended: self.ended.map(UnixTime::rfc3339),
        }
    }
}

/// The sentence of a fault of a table.
fn reason_of(kind: FaultKind) -> Reason {
    match kind {
        FaultKind::Utf16 => Reason::new("table-utf-16"),
        FaultKind::NotUtf8 => Reason::new("table-not-utf-8"),
        FaultKind::Control => Reason::new("table-control"),
        FaultKind::LineEnd => Reason::new("table-line-end"),
        FaultKind::QuoteInside => Reason::new("table-quote-inside"),
        FaultKind::QuoteFollowed => Reason::new("table-quote-followed"),
        FaultKind::QuoteOpen => Reason::new("table-quote-open"),
        FaultKind::RowLong => Reason::new("table-row-long"),
        FaultKind::NoHeader => Reason::new("table-no-header"),
        FaultKind::CellCount => Reason::new("table-cell-count"),
        FaultKind::NotJson => Reason::new("table-not-json"),
        FaultKind::DuplicateMember => Reason::new("table-duplicate-member"),
    }
}

/// What came of a row.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowResult {
    Offered(RowOffer),
    Refused(Reason),
}

/// An offer that was made.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RowOffer {
    pub id: String,
    pub uri: String,
    pub expires: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailState>,
}

/// What became of the mail.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MailState {
    Sent,
    Failed(Reason),
}

impl From<Offer> for RowOffer {
    fn from(offer: Offer) -> Self {
        Self {
            id: offer.id,
            uri: offer.uri,
            expires: offer.expires,
            tx_code: offer.tx_code,
            mail: None,
        }
    }
}

/// Rows that are offered in one commit.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct RowChunk {
    /// The number of rows before it.
    pub before: u64,
    pub rows: Vec<ListRow>,
    pub results: Vec<RowResult>,
}

impl RowChunk {
    pub fn put(&self, id: &str, until: UnixTime) -> Result<Put> {
        Ok(Put::new(CHUNK, id, encode(self)?).expires(until))
    }

    /// What came of its rows.
    pub fn shown(&self) -> Vec<ListResult> {
        let results = self.results.iter().map(Some);
        let results = results.chain(std::iter::repeat(None));
        let rows = self.rows.iter().zip(results);
        rows.map(|(row, result)| shown(row, result)).collect()
    }
}

fn shown(row: &ListRow, result: Option<&RowResult>) -> ListResult {
    let mut shown = ListResult {
        line: row.line,
        reference: row.reference.clone(),
        state: RowState::Waiting,
        offer: None,
        uri: None,
        tx_code: None,
        expires: None,
        email: row.email.clone(),
        why: None,
    };
    match result {
        None => {}
        Some(RowResult::Refused(why)) => {
            shown.state = RowState::Refused;
            shown.why = Some(why.clone());
        }
        Some(RowResult::Offered(made)) => {
            shown.state = match &made.mail {
                None => RowState::Offered,
                Some(MailState::Sent) => RowState::Mailed,
                Some(MailState::Failed(why)) => {
                    shown.why = Some(why.clone());
                    RowState::MailFailed
                }
            };
            shown.offer = Some(made.id.clone());
            shown.uri = Some(made.uri.clone());
            shown.tx_code.clone_from(&made.tx_code);
            shown.expires = Some(made.expires.clone());
        }
    }
    shown
}

/// The id of the record of a chunk, counted from 0.
pub(crate) fn chunk_id(list: &str, number: u64) -> String {
    format!("{list}.{number}")
}

/// A list and the tenant whose it is.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct NotedList {
    pub tenant: TenantId,
    pub id: String,
}

impl NotedList {
    /// Adds the note that it is worked on. The note is the instance's, so that any process finds it.
    pub fn noted(&self, batch: Batch) -> Batch {
        let put = Put::new(RUNNING, self.note(), Vec::new());
        batch.for_tenant(TenantId::instance()).put(put)
    }

    /// Removes the note.
    pub fn forgotten(&self, batch: Batch) -> Batch {
        let batch = batch.for_tenant(TenantId::instance());
        batch.delete(RUNNING, &self.note())
    }

    /// The list of a note.
    pub fn read(note: &str) -> Option<Self> {
        let (tenant, id) = note.rsplit_once('/')?;
        Some(Self {
            tenant: TenantId::parse(tenant).ok()?,
            id: id.to_owned(),
        })
    }

    fn note(&self) -> String {
        format!("{}/{}", self.tenant, self.id)
    }
}

/// The digests of the references of rows, each with its place: what finds a reference that two rows have.
#[derive(Default)]
pub(crate) struct ReferenceDigests(pub Vec<ReferenceDigest>);

/// The digest of a reference. Ten bytes keep two of a million apart.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct ReferenceDigest {
    pub digest: [u8; 10],
    pub line: u32,
    pub column: u16,
}

impl ReferenceDigest {
    /// Of a reference at this place.
    pub fn of(reference: &str, place: CellPlace) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, ..] = sha256(reference.as_bytes());
        Self {
            digest: [a, b, c, d, e, f, g, h, i, j],
            line: u32::try_from(place.line).unwrap_or(u32::MAX),
            column: u16::try_from(place.column).unwrap_or(u16::MAX),
        }
    }
}

impl ReferenceDigests {
    pub fn put(&self, id: &str, until: UnixTime) -> Put {
        let bytes = self.0.iter().fold(Vec::new(), |mut bytes, one| {
            bytes.extend_from_slice(&one.digest);
            bytes.extend_from_slice(&one.line.to_be_bytes());
            bytes.extend_from_slice(&one.column.to_be_bytes());
            bytes
        });
        Put::new(NAMES, id, base64url_encode(&bytes).into_bytes()).expires(until)
    }

    /// Adds those of a record.
    pub async fn read(&mut self, store: &Store, at: &NotedList, portion: u64) -> Result<()> {
        let id = chunk_id(&at.id, portion);
        let Some(read) = store.read(&at.tenant, NAMES, &id).await? else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&read.value);
        let bytes = base64url_decode(&text).map_err(Error::internal)?;
        for one in bytes.as_chunks::<16>().0 {
            let [a, b, c, d, e, f, g, h, i, j, l0, l1, l2, l3, c0, c1] = *one;
            self.0.push(ReferenceDigest {
                digest: [a, b, c, d, e, f, g, h, i, j],
                line: u32::from_be_bytes([l0, l1, l2, l3]),
                column: u16::from_be_bytes([c0, c1]),
            });
        }
        Ok(())
    }

    /// A fault for each row whose reference an earlier row has.
    pub fn repeated(mut self) -> Vec<ListFault> {
        self.0.sort_unstable();
        let same = self.0.chunk_by(|one, next| one.digest == next.digest);
        let mut faults: Vec<ListFault> = same.flat_map(repeated).collect();
        faults.sort_by_key(|fault| fault.line);
        faults
    }
}

/// A fault for each row of those with the same reference but the first.
fn repeated(same: &[ReferenceDigest]) -> Vec<ListFault> {
    let Some((first, others)) = same.split_first() else {
        return Vec::new();
    };
    let others = others.iter().map(|other| ListFault {
        line: other.line.into(),
        column: other.column.into(),
        why: Reason::new("list-reference-twice").with("line", &first.line),
    });
    others.collect()
}

/// Reads the record of a list.
pub(crate) async fn list_record(store: &Store, at: &NotedList) -> Result<StoredList> {
    let read = store.read(&at.tenant, LIST, &at.id).await?;
    let read = read.ok_or_else(|| Error::not_found("list-unknown"))?;
    Ok(StoredList {
        list: decode(&read.value)?,
        version: read.version,
    })
}

/// A list as it was read.
pub(crate) struct StoredList {
    pub list: ListRecord,
    pub version: u64,
}

impl StoredList {
    /// Adds the list as it is now, if it has not changed since it was read.
    pub fn written_in(&self, batch: Batch, id: &str) -> Result<Batch> {
        let value = encode(&self.list)?;
        Ok(batch.update_version(LIST, id, self.version, value))
    }
}
