//! Lists for people: newest first, a page at a time.

use crate::{Reason, Reasons};
use selfsame_store::{Page, Record};
use serde::de::{Deserializer, Error as _, Unexpected};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which page of a list to return: the cursor of the page before, and the maximum number of entries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// The `next` of the page before; absent for the first page.
    pub after: Option<String>,
    /// Maximum number of entries; default 50, at most 200.
    #[serde(default, deserialize_with = "at_least_one")]
    pub limit: Option<usize>,
}

/// Reads the number of entries of a page; refuses 0.
pub fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(0) => Err(D::Error::invalid_value(
            Unexpected::Unsigned(0),
            &"a whole number from 1",
        )),
        limit => Ok(limit),
    }
}

impl Paging {
    /// The cursor to continue from, if any; a form's empty field counts as absent.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.after.as_deref().filter(|after| !after.is_empty())
    }

    /// The number of entries asked for, clamped to 1–200.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(50).clamp(1, 200)
    }
}

/// A page of a list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Listing<T> {
    /// The entries, newest first.
    pub items: Vec<T>,
    /// The cursor of the next page; absent at the end.
    pub next: Option<String>,
}

impl<T: Reasons> Reasons for Listing<T> {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.items.iter_mut().flat_map(T::reasons).collect()
    }
}

/// The store's page for a list that is shown newest first.
#[must_use]
pub fn page(paging: &Paging) -> Page {
    // One more than shown, to know whether there is a next page.
    let page = Page::newest(paging.limit().saturating_add(1));
    match paging.cursor() {
        Some(cursor) => page.after(cursor),
        None => page,
    }
}

/// A page of a list, with the cursor of the next page.
///
/// # Errors
/// Those of `view`.
pub fn listing<T>(
    records: &[Record],
    paging: &Paging,
    view: impl Fn(&Record) -> crate::Result<T>,
) -> crate::Result<Listing<T>> {
    let shown = records
        .get(..paging.limit().min(records.len()))
        .unwrap_or(records);
    let next = if records.len() > shown.len() {
        shown.last().map(Record::cursor)
    } else {
        None
    };
    Ok(Listing {
        items: shown.iter().map(view).collect::<crate::Result<_>>()?,
        next,
    })
}
