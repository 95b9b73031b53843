//! Lists for people: newest first, a page at a time.

use selfsame_store::{Page, Record};

use crate::error::Result;
use crate::view::{Listing, Paging};

/// The store's page for a list that is shown newest first.
pub(crate) fn page(paging: &Paging) -> Page {
    // One more than shown, to know whether there is a next page.
    let page = Page::newest(paging.limit().saturating_add(1));
    match paging.cursor() {
        Some(cursor) => page.after(cursor),
        None => page,
    }
}

/// A page of a list, with the cursor of the next page.
pub(crate) fn listing<T>(
    records: &[Record],
    paging: &Paging,
    view: impl Fn(&Record) -> Result<T>,
) -> Result<Listing<T>> {
    let shown = records
        .get(..paging.limit().min(records.len()))
        .unwrap_or(records);
    let next = if records.len() > shown.len() {
        shown.last().map(Record::cursor)
    } else {
        None
    };
    Ok(Listing {
        items: shown.iter().map(view).collect::<Result<_>>()?,
        next,
    })
}
