//! A cell of a table.

use serde::{Deserialize, Serialize};

/// A cell.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TableCell {
    /// The line on which it begins, counted from 1.
    pub line: u64,
    /// The character at which it begins, counted from 1.
    pub column: u64,
    /// Its text. One that begins with `=`, `+`, `-` or `@` is text like any other.
    pub text: String,
}
