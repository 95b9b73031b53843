//! One record of CSV (RFC 4180), from bytes that may end in the middle of it.

use crate::cell::TableCell;
use crate::fault::FaultKind;

/// What is at the beginning of some bytes.
#[derive(Debug, Eq, PartialEq)]
pub enum Scanned {
    /// A record, or an empty line, which has no cells.
    Record(CsvRecord),
    /// The beginning of a record: more bytes are needed.
    More,
    /// Something that is no record; the next one begins after the `bytes` of `end`.
    Wrong {
        /// What is wrong.
        kind: FaultKind,
        /// Where.
        at: CsvPlace,
        /// Where the next line begins.
        end: CsvPlace,
    },
}

/// A record.
#[derive(Debug, Eq, PartialEq)]
pub struct CsvRecord {
    /// The cells. Their lines count from 0, from the line on which the record begins.
    pub cells: Vec<TableCell>,
    /// Where the next record begins.
    pub end: CsvPlace,
}

/// A place within the bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CsvPlace {
    /// The number of bytes before it.
    pub bytes: usize,
    /// The number of lines before it.
    pub line: u64,
    /// The character within its line, counted from 1.
    pub column: u64,
}

/// How a cell ends.
enum CellEnd {
    Separator,
    Line,
    /// More bytes could change what it is.
    More,
}

struct CsvCursor<'a> {
    bytes: &'a [u8],
    separator: u8,
    is_last: bool,
    place: CsvPlace,
}

/// What is at the beginning of these bytes; `is_last` if no more follow.
pub fn scan(bytes: &[u8], separator: u8, is_last: bool) -> Scanned {
    let mut cursor = CsvCursor {
        bytes,
        separator,
        is_last,
        place: CsvPlace {
            bytes: 0,
            line: 0,
            column: 1,
        },
    };
    let mut cells = Vec::new();
    loop {
        let at = cursor.place;
        let mut text = Vec::new();
        let end = match cursor.cell(&mut text) {
            Ok(CellEnd::More) => return Scanned::More,
            Ok(end) => end,
            Err(kind) => return cursor.wrong(kind, at),
        };
        let Ok(text) = String::from_utf8(text) else {
            return cursor.wrong(FaultKind::NotUtf8, at);
        };
        let is_line = matches!(end, CellEnd::Line);
        if !(is_line && cells.is_empty() && text.is_empty()) {
            cells.push(TableCell {
                line: at.line,
                column: at.column,
                text,
            });
        }
        if is_line {
            let end = cursor.place;
            return Scanned::Record(CsvRecord { cells, end });
        }
    }
}

/// The separator of a header line: the first of comma, semicolon and tab that stands outside of quotes.
pub fn separator(bytes: &[u8]) -> u8 {
    let mut is_quoted = false;
    for byte in bytes {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            b',' | b';' | b'\t' if !is_quoted => return *byte,
            _ => {}
        }
    }
    b','
}

impl CsvCursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.place.bytes).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.place.bytes = self.place.bytes.saturating_add(1);
        if byte == b'\n' {
            self.place.line = self.place.line.saturating_add(1);
            self.place.column = 1;
        } else if byte & 0xC0 != 0x80 {
            // A byte that continues a character of UTF-8 begins no column.
            self.place.column = self.place.column.saturating_add(1);
        }
        Some(byte)
    }

    /// Reads a cell and what ends it.
    fn cell(&mut self, text: &mut Vec<u8>) -> Result<CellEnd, FaultKind> {
        if self.peek() == Some(b'"') {
            self.next();
            return self.quoted(text);
        }
        loop {
            match self.peek() {
                Some(b'"') => return Err(FaultKind::QuoteInside),
                Some(byte) if byte == self.separator || byte == b'\n' || byte == b'\r' => {
                    return self.end();
                }
                Some(byte) if is_control(byte) => return Err(FaultKind::Control),
                Some(byte) => {
                    text.push(byte);
                    self.next();
                }
                None => return self.end(),
            }
        }
    }

    /// Reads a cell after its opening quote.
    fn quoted(&mut self, text: &mut Vec<u8>) -> Result<CellEnd, FaultKind> {
        loop {
            match self.next() {
                Some(b'"') => match self.peek() {
                    Some(b'"') => {
                        self.next();
                        text.push(b'"');
                    }
                    None if !self.is_last => return Ok(CellEnd::More),
                    _ => return self.end(),
                },
                Some(byte) if byte != b'\n' && byte != b'\r' && is_control(byte) => {
                    return Err(FaultKind::Control);
                }
                Some(byte) => text.push(byte),
                None if self.is_last => return Err(FaultKind::QuoteOpen),
                None => return Ok(CellEnd::More),
            }
        }
    }

    /// Reads what ends a cell.
    fn end(&mut self) -> Result<CellEnd, FaultKind> {
        match self.peek() {
            None if self.is_last => Ok(CellEnd::Line),
            None => Ok(CellEnd::More),
            Some(byte) if byte == self.separator => {
                self.next();
                Ok(CellEnd::Separator)
            }
            Some(b'\n') => {
                self.next();
                Ok(CellEnd::Line)
            }
            Some(b'\r') => match self.bytes.get(self.place.bytes.saturating_add(1)) {
                Some(b'\n') => {
                    self.next();
                    self.next();
                    Ok(CellEnd::Line)
                }
                None if !self.is_last => Ok(CellEnd::More),
                _ => Err(FaultKind::LineEnd),
            },
            Some(_) => Err(FaultKind::QuoteFollowed),
        }
    }

    /// A fault; what follows begins at the next line. The whole line must be there for that.
    fn wrong(mut self, kind: FaultKind, cell: CsvPlace) -> Scanned {
        let at = match kind {
            // Where the quote was opened says more than the end of the file.
            FaultKind::QuoteOpen | FaultKind::NotUtf8 => cell,
            _ => self.place,
        };
        loop {
            match self.next() {
                Some(b'\n') => break,
                Some(_) => {}
                None if self.is_last || kind.is_fatal() => break,
                None => return Scanned::More,
            }
        }
        let end = self.place;
        Scanned::Wrong { kind, at, end }
    }
}

/// Whether a byte is a control character other than a tab (RFC 4180 §2 allows none).
fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t') || byte == 0x7F
}
