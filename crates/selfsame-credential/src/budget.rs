//! How much memory credentials and presentations may take once they are read.

use selfsame_crypto::json;
use serde_json::Value;

/// What everything may take, however short its text.
const BASE: usize = 1 << 20;
/// What each byte of text adds: long texts, such as portraits, take hardly more than themselves.
const PER_BYTE: usize = 2;

/// The memory, in bytes, that is left for what is read of one text, or of all texts of one answer. Small objects take
/// eighty times their text, and the disclosures of an SD-JWT and the credential in a presentation are texts of their
/// own; so what counts is what all of it takes together.
#[derive(Debug)]
pub struct Budget(usize);

impl Budget {
    /// For one text.
    pub fn of(text: &str) -> Self {
        Self::of_all([text])
    }

    /// For texts that come together.
    pub fn of_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let lengths = texts.into_iter().map(str::len);
        let length = lengths.fold(0, usize::saturating_add);
        Self(BASE.saturating_add(length.saturating_mul(PER_BYTE)))
    }

    /// Takes what this value needs; none if that is more than there is left.
    pub(crate) fn take(&mut self, value: &Value) -> Option<()> {
        self.take_bytes(json::weight(value))
    }

    /// Takes so many bytes; none, and all that is left, if that is more.
    pub(crate) fn take_bytes(&mut self, bytes: usize) -> Option<()> {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or_default();
        left.map(|_| ())
    }

    /// What is left.
    pub(crate) const fn left(&self) -> usize {
        self.0
    }
}
