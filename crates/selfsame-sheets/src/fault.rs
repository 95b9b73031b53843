//! What is wrong with a table, and where.

use serde::{Deserialize, Serialize};

/// What is wrong at a place of a table.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TableFault {
    /// The line, counted from 1.
    pub line: u64,
    /// The character within the line, counted from 1.
    pub column: u64,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The file is in UTF-16.
    Utf16,
    /// These bytes are not UTF-8.
    NotUtf8,
    /// A character that steers devices, such as NUL.
    Control,
    /// A carriage return without a line feed after it.
    LineEnd,
    /// A quote within a cell that does not begin with one (RFC 4180 §2, rule 5).
    QuoteInside,
    /// Something else than a separator after a closing quote (RFC 4180 §2, rule 7).
    QuoteFollowed,
    /// A quote that is never closed.
    QuoteOpen,
    /// A row that is longer than [`crate::ROW_MAX`].
    RowLong,
    /// The file has no header line.
    NoHeader,
    /// A row with more or fewer cells than the header (RFC 4180 §2, rule 4).
    CellCount,
    /// A line that is not one JSON object.
    NotJson,
    /// An object that names a member twice (RFC 8259 §4).
    DuplicateMember,
}

impl FaultKind {
    /// Whether nothing after it can be read.
    pub(crate) const fn is_fatal(self) -> bool {
        matches!(
            self,
            Self::Utf16 | Self::Control | Self::QuoteOpen | Self::RowLong | Self::NoHeader
        )
    }
}
