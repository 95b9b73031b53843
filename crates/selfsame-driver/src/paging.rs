//! Lists, a page at a time.

use crate::{Error, Reason, Reasons};
use selfsame_crypto::encoding::base64url_encode;
use selfsame_store::{Page, Record};
use serde::de::{Deserializer, Error as _, Unexpected};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of entries of a page.
const LIMIT_MAX: usize = 200;

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
    /// The first page with as many entries as a page may have.
    #[must_use]
    pub fn longest() -> Self {
        Self {
            after: None,
            limit: Some(LIMIT_MAX),
        }
    }

    /// The cursor to continue from, if any; a form's empty field counts as absent.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.after.as_deref().filter(|after| !after.is_empty())
    }

    /// The number of entries asked for, clamped to 1–200.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(50).clamp(1, LIMIT_MAX)
    }
}

/// A page of a list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Listing<T> {
    /// The entries.
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

/// A page of a list that is read as a whole, because it is short. `name` says which entry is which; the cursor of a page
/// stands for the last name on it.
///
/// # Errors
/// `BadRequest` for a cursor that no page of this list has given, and for one whose entry was removed meanwhile.
pub fn part<T>(
    items: Vec<T>,
    paging: &Paging,
    name: impl Fn(&T) -> String,
) -> crate::Result<Listing<T>> {
    let start = match paging.cursor() {
        None => 0,
        Some(cursor) => {
            let is_last = |item: &T| cursor_of(&name(item)) == cursor;
            let last = items.iter().position(is_last);
            let last = last.ok_or_else(|| Error::bad_request("cursor-invalid"))?;
            last.saturating_add(1)
        }
    };
    let left = items.len().saturating_sub(start);
    let shown: Vec<T> = items.into_iter().skip(start).take(paging.limit()).collect();
    let more = left > shown.len();
    let next = shown
        .last()
        .filter(|_| more)
        .map(|last| cursor_of(&name(last)));
    Ok(Listing { items: shown, next })
}

/// The number after which a page of numbered entries begins; 0 for the first page.
///
/// # Errors
/// `BadRequest` for a cursor that is no number.
pub fn after_number(paging: &Paging) -> crate::Result<u64> {
    let number = paging.cursor().map(str::parse).transpose();
    let number = number.map_err(|_| Error::bad_request("cursor-invalid"))?;
    Ok(number.unwrap_or_default())
}

/// A page of numbered entries: `items` are those after [`after_number`], up to one more than the page shows.
pub fn numbered<T>(mut items: Vec<T>, paging: &Paging, number: impl Fn(&T) -> u64) -> Listing<T> {
    let more = items.len() > paging.limit();
    items.truncate(paging.limit());
    let last = items.last().filter(|_| more);
    let next = last.map(|last| number(last).to_string());
    Listing { items, next }
}

fn cursor_of(name: &str) -> String {
    base64url_encode(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(limit: usize, after: Option<String>) -> Paging {
        let limit = Some(limit);
        Paging { after, limit }
    }

    #[test]
    fn the_pages_of_a_short_list_have_each_entry_once() {
        for limit in 1..7 {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let items: Vec<usize> = (0..5).collect();
                let listed = part(items, &page(limit, after), usize::to_string).unwrap();
                assert!(listed.items.len() <= limit);
                seen.extend(listed.items);
                match listed.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            assert_eq!(seen, [0, 1, 2, 3, 4], "{limit}");
        }
    }

    #[test]
    fn a_cursor_that_no_page_gave_is_refused_and_an_enormous_page_is_bounded() {
        for made_up in ["7", "x", "\0", "Nw"] {
            let refused = part(
                vec![1, 2],
                &page(1, Some(made_up.to_owned())),
                i32::to_string,
            );
            assert_eq!(
                refused.unwrap_err().reason.id(),
                "cursor-invalid",
                "{made_up}"
            );
        }
        let all = part((0..500).collect(), &page(usize::MAX, None), i32::to_string).unwrap();
        assert_eq!(all.items.len(), 200);
    }
}
