//! Lists as ACA-Py has them, by an offset and a limit, from pages that are read by cursor.

use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging};

use crate::answer::OperationResult;
use crate::call::ListPart;

/// The part of a list, the oldest first unless the caller says otherwise. The pages have the newest first, and have
/// what fits alone.
///
/// # Errors
/// Those of a page.
pub async fn gathered<T, F>(part: ListPart, page: impl Fn(Paging) -> F) -> OperationResult<Vec<T>>
where
    F: Future<Output = Result<Listing<T>>>,
{
    let wanted = part.offset.saturating_add(part.limit());
    let (mut found, mut paging) = (Vec::new(), Paging::longest());
    // An ascending list needs all of them.
    while !part.is_descending() || found.len() < wanted {
        let listed = page(paging.clone()).await?;
        found.extend(listed.items);
        match listed.next {
            Some(next) => paging.after = Some(next),
            None => break,
        }
    }
    if !part.is_descending() {
        found.reverse();
    }
    Ok(found
        .into_iter()
        .skip(part.offset)
        .take(part.limit())
        .collect())
}
