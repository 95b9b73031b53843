//! Reads a table from portions of bytes that end anywhere.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::json::{self, JsonError, Limits};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::cell::TableCell;
use crate::csv::{self, CsvPlace, Scanned};
use crate::fault::{FaultKind, TableFault};

/// Maximum number of bytes of a row.
pub const ROW_MAX: usize = 64 * 1024;
/// The mark that some programs write before UTF-8.
const MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// How a table is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Cells with a header line (RFC 4180); separated by commas, semicolons or tabs.
    Csv,
    /// A JSON object a line.
    Ndjson,
}

/// An object of NDJSON.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectRow {
    /// Its line, counted from 1.
    pub line: u64,
    /// Its members.
    pub members: Map<String, Value>,
}

/// What a table contains, in its order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TableItem {
    /// The header of CSV.
    Header(Vec<TableCell>),
    /// A row of CSV, with as many cells as the header.
    Cells(Vec<TableCell>),
    /// A row of NDJSON.
    Object(ObjectRow),
    /// Something that is no row.
    Fault(TableFault),
}

/// Reads a table. It can be stored between two portions; then it goes on where it was.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TableReader {
    kind: TableKind,
    /// The line at which the bytes that are left begin.
    line: u64,
    /// The number of cells of the header.
    cells: Option<usize>,
    separator: u8,
    is_begun: bool,
    is_over: bool,
    #[serde(serialize_with = "encoded", deserialize_with = "decoded")]
    left: Vec<u8>,
}

impl TableReader {
    /// Reads a table of this kind from its beginning.
    #[must_use]
    pub fn new(kind: TableKind) -> Self {
        Self {
            kind,
            line: 1,
            cells: None,
            separator: b',',
            is_begun: false,
            is_over: false,
            left: Vec::new(),
        }
    }

    /// Reads the next bytes, and gives what they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<TableItem> {
        self.left.extend_from_slice(bytes);
        self.read(false)
    }

    /// Gives what is left at the end of the file.
    pub fn end(&mut self) -> Vec<TableItem> {
        let mut items = self.read(true);
        if self.kind == TableKind::Csv && self.cells.is_none() && !self.is_over {
            items.push(self.fault(FaultKind::NoHeader, 1));
        }
        self.is_over = true;
        items
    }

    fn read(&mut self, is_last: bool) -> Vec<TableItem> {
        let mut items = Vec::new();
        let bytes = std::mem::take(&mut self.left);
        let mut rest = match self.begin(&bytes, is_last, &mut items) {
            Some(rest) => rest,
            None => {
                self.left = bytes;
                return items;
            }
        };
        while !self.is_over && !rest.is_empty() {
            let used = match self.kind {
                TableKind::Csv => self.record(rest, is_last, &mut items),
                TableKind::Ndjson => self.object(rest, is_last, &mut items),
            };
            match used {
                Some(used) => rest = rest.get(used..).unwrap_or_default(),
                None => break,
            }
        }
        if !self.is_over && rest.len() > ROW_MAX {
            items.push(self.fault(FaultKind::RowLong, 1));
        }
        self.left = match self.is_over {
            true => Vec::new(),
            false => rest.to_vec(),
        };
        items
    }

    /// The bytes after a mark of UTF-8; `None` until the first bytes are there.
    fn begin<'b>(
        &mut self,
        bytes: &'b [u8],
        is_last: bool,
        items: &mut Vec<TableItem>,
    ) -> Option<&'b [u8]> {
        if self.is_begun {
            return Some(bytes);
        }
        if bytes.len() < MARK.len() && !is_last {
            return None;
        }
        self.is_begun = true;
        if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
            items.push(self.fault(FaultKind::Utf16, 1));
        }
        Some(bytes.strip_prefix(MARK).unwrap_or(bytes))
    }

    /// Reads a record; `None` if more bytes are needed. Otherwise the number of bytes that were used.
    fn record(&mut self, bytes: &[u8], is_last: bool, items: &mut Vec<TableItem>) -> Option<usize> {
        if self.cells.is_none() {
            self.separator = csv::separator(bytes);
        }
        match csv::scan(bytes, self.separator, is_last) {
            Scanned::More => None,
            Scanned::Wrong { kind, at, end } => {
                let fault = TableFault {
                    line: self.line.saturating_add(at.line),
                    column: at.column,
                    kind,
                };
                items.push(TableItem::Fault(fault));
                // Nothing is a row without a header.
                self.is_over = kind.is_fatal() || self.cells.is_none();
                Some(self.past(end))
            }
            Scanned::Record(record) => {
                let mut cells = record.cells;
                for cell in &mut cells {
                    cell.line = cell.line.saturating_add(self.line);
                }
                if record.end.bytes > ROW_MAX {
                    items.push(self.fault(FaultKind::RowLong, 1));
                } else if !cells.is_empty() {
                    items.push(self.item(cells));
                }
                Some(self.past(record.end))
            }
        }
    }

    fn item(&mut self, cells: Vec<TableCell>) -> TableItem {
        match self.cells {
            None => {
                self.cells = Some(cells.len());
                TableItem::Header(cells)
            }
            Some(count) if count == cells.len() => TableItem::Cells(cells),
            Some(count) => {
                // The first cell too many, or the last one of those that are too few.
                let named = cells.get(count).or(cells.last());
                TableItem::Fault(TableFault {
                    line: named.map_or(self.line, |cell| cell.line),
                    column: named.map_or(1, |cell| cell.column),
                    kind: FaultKind::CellCount,
                })
            }
        }
    }

    /// Notes that the next record begins there; returns the number of bytes before it.
    fn past(&mut self, end: CsvPlace) -> usize {
        self.line = self.line.saturating_add(end.line);
        end.bytes
    }

    /// Reads a line of NDJSON.
    fn object(&mut self, bytes: &[u8], is_last: bool, items: &mut Vec<TableItem>) -> Option<usize> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (used, line) = match end {
            Some(end) => (end.saturating_add(1), bytes.get(..end).unwrap_or_default()),
            None if is_last => (bytes.len(), bytes),
            None => return None,
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > ROW_MAX {
            items.push(self.fault(FaultKind::RowLong, 1));
        } else if !line.trim_ascii().is_empty() {
            items.push(self.parsed(line));
        }
        self.line = self.line.saturating_add(1);
        Some(used)
    }

    fn parsed(&mut self, line: &[u8]) -> TableItem {
        if let Err(error) = std::str::from_utf8(line) {
            let before = line.get(..error.valid_up_to()).unwrap_or_default();
            let before = String::from_utf8_lossy(before).chars().count();
            return self.fault(FaultKind::NotUtf8, after(before));
        }
        match json::parse_as(line, &Limits::default()) {
            Ok(members) => TableItem::Object(ObjectRow {
                line: self.line,
                members,
            }),
            Err(JsonError::Duplicate) => self.fault(FaultKind::DuplicateMember, 1),
            Err(JsonError::Syntax { column, .. }) => {
                self.fault(FaultKind::NotJson, after(column).saturating_sub(1).max(1))
            }
            Err(_) => self.fault(FaultKind::NotJson, 1),
        }
    }

    fn fault(&mut self, kind: FaultKind, column: u64) -> TableItem {
        self.is_over |= kind.is_fatal();
        TableItem::Fault(TableFault {
            line: self.line,
            column,
            kind,
        })
    }
}

/// A column after this many characters.
fn after(characters: usize) -> u64 {
    u64::try_from(characters)
        .unwrap_or(u64::MAX)
        .saturating_add(1)
}

fn encoded<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&base64url_encode(bytes))
}

fn decoded<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    base64url_decode(&text).map_err(serde::de::Error::custom)
}
