//! The memory that credentials and presentations may take once they are parsed.

use selfsame_crypto::json;
use serde_json::Value;

/// The minimum for any value, however short its text.
const BASE: usize = 1 << 20;
/// Additional bytes for each byte of text: long texts, such as portraits, take little more than their own length.
const PER_BYTE: usize = 2;

/// The memory, in bytes, that is left for parsing one text, or all texts of one answer. Small objects take eighty times
/// their text, and the disclosures of an SD-JWT and the credential in a presentation are separate texts, so the limit
/// is on all of them together.
#[derive(Debug)]
pub struct Budget(usize);

impl Budget {
    /// A budget for one text.
    pub fn of(text: &str) -> Self {
        Self::of_all([text])
    }

    /// A budget for texts that come together.
    pub fn of_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let lengths = texts.into_iter().map(str::len);
        let length = lengths.fold(0, usize::saturating_add);
        Self(BASE.saturating_add(length.saturating_mul(PER_BYTE)))
    }

    /// Takes the memory that this value needs; `None` if that is more than the remaining budget.
    #[must_use = "the budget may be used up"]
    pub fn take(&mut self, value: &Value) -> Option<()> {
        self.take_bytes(json::weight(value))
    }

    /// Takes this many bytes. If that is more than the remaining budget, takes all of it and returns `None`.
    #[must_use = "the budget may be used up"]
    pub fn take_bytes(&mut self, bytes: usize) -> Option<()> {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or_default();
        left.map(|_| ())
    }

    /// The remaining bytes.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.0
    }
}
