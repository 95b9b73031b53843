//! An entry of the table for each format: its properties, and the functions that read its credentials.

use std::sync::Arc;

use serde_json::Value;

use super::{
    view::{Description, HeldError, ReadCredential, Subject},
    w3c::Variant,
};
use crate::{budget::Budget, rules::Malformed};

/// A format in the table.
pub(crate) struct Entry {
    /// The format's properties.
    pub description: Description,
    /// Reads a credential for its holder.
    pub hold: fn(&str) -> Result<ReadCredential, HeldError>,
    /// Reads a credential without a presentation, for verification.
    pub read_credential: ReadFn,
    /// Reads a presentation, for verification.
    pub read_presentation: ReadFn,
    /// Whether a text looks like a credential of this format; the formats are tried in the order of the table.
    pub is_like: fn(&str) -> bool,
    /// The credential in a presentation, without the holder's proof; `None` if the text is not a presentation.
    pub bare: fn(&str) -> Option<String>,
    /// The error for a text that exceeds the memory budget.
    pub too_much: fn() -> Malformed,
    /// The types of a credential as queries name them, by its claims; `None` if that is how the credential has them.
    pub asked_types: Option<fn(&Value) -> Vec<String>>,
    /// How it encodes the W3C data model, if it is a W3C format.
    pub w3c: Option<Variant>,
}

/// Reads a text within a budget. The result depends only on these two.
pub(crate) type ReadFn = fn(&str, &mut Budget) -> Result<Arc<dyn Subject>, Malformed>;
