//! Records as callers see them: decrypted, with tags to find them.

use std::fmt;

use selfsame_crypto::time::UnixTime;

use crate::error::{Result, StoreError};

/// The maximum page size.
pub const MAX_PAGE: usize = 1_000;

/// A record as read.
#[derive(Clone, Eq, PartialEq)]
pub struct Record {
    /// The identifier within tenant and kind.
    pub id: String,
    /// The value.
    pub value: Vec<u8>,
    /// An opaque stamp that changes with every write. Expect it in a batch to detect writes by others.
    pub version: u64,
    /// The time from which it reads as absent.
    pub expires: Option<UnixTime>,
    /// The sequence number, in order of insertion; later writes keep it.
    pub seq: u64,
}

/// A condition for a batch to be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Expect {
    /// The record is absent or has expired.
    Absent,
    /// The record has this version.
    Version(u64),
}

impl Record {
    /// The cursor of the page after this record.
    pub fn cursor(&self) -> String {
        self.seq.to_string()
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = format_args!("[{} bytes]", self.value.len());
        formatter
            .debug_struct("Record")
            .field("id", &self.id)
            .field("value", &value)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A tag by which a record can be found.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Tag {
    /// Stored as a keyed hash: it can be compared for equality, but not read.
    Hashed {
        /// The tag's name.
        name: &'static str,
        /// The tag's value.
        value: String,
    },
    /// Stored as plain text: only for values that anyone with access to the file may read.
    Plain {
        /// The tag's name.
        name: &'static str,
        /// The tag's value.
        value: String,
    },
}

impl Tag {
    /// A tag stored as a keyed hash.
    pub fn hashed(name: &'static str, value: impl Into<String>) -> Self {
        Self::Hashed {
            name,
            value: value.into(),
        }
    }

    /// A tag stored as plain text.
    pub fn plain(name: &'static str, value: impl Into<String>) -> Self {
        Self::Plain {
            name,
            value: value.into(),
        }
    }
}

/// A record to write. It replaces the old record completely, including tags and expiry.
#[derive(Clone)]
pub struct Put {
    /// The kind.
    pub kind: &'static str,
    /// The identifier. It is stored unencrypted, so it must not identify a person.
    pub id: String,
    /// The value, sealed before it leaves memory.
    pub value: Vec<u8>,
    /// The tags.
    pub tags: Vec<Tag>,
    /// The time from which it reads as absent.
    pub expires: Option<UnixTime>,
}

impl Put {
    /// A record without tags that does not expire.
    pub fn new(kind: &'static str, id: impl Into<String>, value: Vec<u8>) -> Self {
        Self {
            kind,
            id: id.into(),
            value,
            tags: Vec::new(),
            expires: None,
        }
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, tag: Tag) -> Self {
        self.tags.push(tag);
        self
    }

    /// Sets the expiry.
    #[must_use]
    pub fn expires(mut self, at: UnixTime) -> Self {
        self.expires = Some(at);
        self
    }
}

/// A page of a list in order of insertion.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Page {
    /// The cursor of the last record of the previous page.
    pub after: Option<String>,
    /// The maximum number of records, capped at [`MAX_PAGE`].
    pub limit: usize,
    /// Newest first instead of oldest first.
    pub newest_first: bool,
}

impl Page {
    /// The first page, oldest first.
    pub fn first(limit: usize) -> Self {
        Self {
            after: None,
            limit,
            newest_first: false,
        }
    }

    /// The first page, newest first.
    pub fn newest(limit: usize) -> Self {
        Self {
            newest_first: true,
            ..Self::first(limit)
        }
    }

    /// The page after this cursor.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.after = Some(cursor.into());
        self
    }

    pub(crate) fn window(&self) -> Result<Window> {
        let after = match &self.after {
            Some(cursor) => Some(
                cursor
                    .parse()
                    .ok()
                    .filter(|seq| *seq <= i64::MAX as u64)
                    .ok_or(StoreError::Malformed("cursor"))?,
            ),
            None => None,
        };
        Ok(Window {
            after,
            limit: self.limit.min(MAX_PAGE),
            newest_first: self.newest_first,
        })
    }
}

/// A page with its cursor parsed.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The sequence number of the last record of the previous page.
    pub after: Option<u64>,
    /// The maximum number of records.
    pub limit: usize,
    /// Newest first instead of oldest first.
    pub newest_first: bool,
}

/// A number as SQL takes it, whose integers are signed. No time or number of a store comes near their maximum; larger input
/// is capped there.
#[must_use]
pub fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Window {
    /// Of a query that reads oldest first and one that reads newest first, the one for this direction; and the sequence
    /// number to start from, as SQL takes it.
    #[must_use]
    pub fn directed(self, queries: [&'static str; 2]) -> (&'static str, i64) {
        let [oldest_first, newest_first] = queries;
        match (self.newest_first, self.after) {
            (false, after) => (oldest_first, sql(after.unwrap_or(0))),
            (true, after) => (newest_first, sql(after.unwrap_or(u64::MAX))),
        }
    }

    pub(crate) fn admits(&self, seq: u64) -> bool {
        match self.after {
            None => true,
            Some(after) if self.newest_first => seq < after,
            Some(after) => seq > after,
        }
    }
}
