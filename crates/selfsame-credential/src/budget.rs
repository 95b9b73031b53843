//! How much memory one credential or presentation may take once it is read.

use selfsame_crypto::json;
use serde_json::Value;

/// What everything may take, however short its text.
const BASE: usize = 1 << 20;
/// What each byte of text adds: long texts, such as portraits, take hardly more than themselves.
const PER_BYTE: usize = 2;

/// The memory, in bytes, that is left for what is read of one text. Small objects take eighty times their text, and the
/// disclosures of an SD-JWT are texts of their own; so what counts is what all of it takes together.
#[derive(Debug)]
pub(crate) struct Budget(usize);

impl Budget {
    pub fn of(text: &str) -> Self {
        Self(BASE.saturating_add(text.len().saturating_mul(PER_BYTE)))
    }

    /// Takes what this value needs; none if that is more than there is left.
    pub fn take(&mut self, value: &Value) -> Option<()> {
        self.0 = self.0.checked_sub(json::weight(value))?;
        Some(())
    }
}
