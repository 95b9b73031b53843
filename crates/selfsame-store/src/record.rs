//! Records as callers see them: opened, with tags to find them by.

use std::fmt;

use selfsame_crypto::time::UnixTime;

use crate::error::{Result, StoreError};

/// The largest page.
pub const MAX_PAGE: usize = 1_000;

/// A record as read.
#[derive(Clone, Eq, PartialEq)]
pub struct Record {
    /// Its identifier within tenant and kind.
    pub id: String,
    /// What was put.
    pub value: Vec<u8>,
    /// An opaque stamp that every write changes; expect it in a batch to write only if nobody else did.
    pub version: u64,
    /// From when on it reads as absent.
    pub expires: Option<UnixTime>,
    /// Its place in the order of insertion; kept by later writes.
    pub seq: u64,
}

/// What must hold for a batch to be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Expect {
    /// There is no such record (or it has expired).
    Absent,
    /// The record has this version.
    Version(u64),
}

impl Record {
    /// Where the page after this record begins.
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

/// What a record is to be found by.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Tag {
    /// Stored as a keyed hash: equality can be asked for, nothing can be read off.
    Hashed {
        /// What the tag means.
        name: &'static str,
        /// The value looked for.
        value: String,
    },
    /// Stored as it is: only for values that anyone who has the file may read.
    Plain {
        /// What the tag means.
        name: &'static str,
        /// The value looked for.
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

    /// A tag stored in the clear.
    pub fn plain(name: &'static str, value: impl Into<String>) -> Self {
        Self::Plain {
            name,
            value: value.into(),
        }
    }
}

/// A record to be written, whole: what is not said again is gone.
#[derive(Clone)]
pub struct Put {
    /// The kind.
    pub kind: &'static str,
    /// The identifier. It is stored in the clear, so it must say nothing about the person.
    pub id: String,
    /// The value, sealed before it leaves memory.
    pub value: Vec<u8>,
    /// What it is found by.
    pub tags: Vec<Tag>,
    /// From when on it reads as absent.
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

    /// Lets it expire.
    #[must_use]
    pub fn expires(mut self, at: UnixTime) -> Self {
        self.expires = Some(at);
        self
    }
}

/// A part of a list, in order of insertion.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Page {
    /// The cursor of the last record of the page before.
    pub after: Option<String>,
    /// How many at most; more than [`MAX_PAGE`] are never given.
    pub limit: usize,
    /// From the newest to the oldest.
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
            after: None,
            limit,
            newest_first: true,
        }
    }

    /// The page after that cursor.
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
    /// The sequence number of the last record of the page before.
    pub after: Option<u64>,
    /// How many at most.
    pub limit: usize,
    /// From the newest to the oldest.
    pub newest_first: bool,
}

impl Window {
    pub(crate) fn admits(&self, seq: u64) -> bool {
        match self.after {
            None => true,
            Some(after) if self.newest_first => seq < after,
            Some(after) => seq > after,
        }
    }
}
