//! Where a reader of a profile stands, so that it can go on later, or in another process.

use std::fmt;
use std::str::FromStr;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};

/// The longest category and name together, as stored, in bytes.
pub(crate) const KEY_BYTES_MAX: usize = 64 * 1024;

/// A place in the order of a profile's items: by kind, then by category and name as they are stored. It stays valid
/// while items are added and removed. Not secret: it has what anybody who has the file can read.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RecordCursor {
    pub(crate) kind: i16,
    pub(crate) category: Vec<u8>,
    pub(crate) name: Vec<u8>,
}

impl RecordCursor {
    /// The place before the first item.
    pub(crate) fn start() -> Self {
        Self {
            kind: i16::MIN,
            category: Vec::new(),
            name: Vec::new(),
        }
    }
}

/// The text of a cursor: base64url of the kind, the length of the category, the category, the name.
impl fmt::Display for RecordCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = u32::try_from(self.category.len()).unwrap_or(u32::MAX);
        let bytes = [
            &self.kind.to_be_bytes()[..],
            &length.to_be_bytes(),
            &self.category,
            &self.name,
        ];
        f.write_str(&base64url_encode(&bytes.concat()))
    }
}

/// The text is not one that a cursor was written as.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a place in a wallet")]
pub struct NoCursor;

impl FromStr for RecordCursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        if text.len() > KEY_BYTES_MAX.saturating_mul(2) {
            return Err(NoCursor);
        }
        let bytes = base64url_decode(text).map_err(|_| NoCursor)?;
        let (kind, rest) = bytes.split_first_chunk::<2>().ok_or(NoCursor)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(NoCursor)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| NoCursor)?;
        let (category, name) = rest.split_at_checked(length).ok_or(NoCursor)?;
        Ok(Self {
            kind: i16::from_be_bytes(*kind),
            category: category.to_vec(),
            name: name.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_other_texts_are_refused() {
        let cursor = RecordCursor {
            kind: 2,
            category: vec![1, 2],
            name: vec![3],
        };
        for cursor in [cursor, RecordCursor::start()] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for text in ["", "!", "AAI", "AAIAAAAF"] {
            assert_eq!(text.parse::<RecordCursor>(), Err(NoCursor), "{text}");
        }
        let long = "A".repeat(KEY_BYTES_MAX * 2 + 4);
        assert_eq!(long.parse::<RecordCursor>(), Err(NoCursor));
    }
}
