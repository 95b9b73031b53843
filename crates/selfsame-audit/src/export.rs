//! Exports: a trail as lines of JSON, each link before its entries.

use serde::{Deserialize, Serialize};

use crate::chain::{ChainHead, ChainLink};
use crate::entry::AuditEntry;

/// One line of an export.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExportLine {
    /// A link. Its entries follow.
    Link(ChainLink),
    /// An entry of the link before it.
    Entry(AuditEntry),
    /// The end of the trail.
    Head(ChainHead),
}

/// A part of an export.
#[derive(Clone, Debug)]
pub struct ExportPage {
    /// Its lines.
    pub lines: Vec<ExportLine>,
    /// The number of the link that the next part comes after; `None` at the end.
    pub next: Option<u64>,
}

impl ExportPage {
    /// The lines as NDJSON, each with a line feed.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |line: &ExportLine| {
            // A struct of texts and numbers is always JSON.
            serde_json::to_string(line).unwrap_or_default() + "\n"
        };
        self.lines.iter().map(line).collect()
    }
}
