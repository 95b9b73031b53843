//! Encodes and decodes the values of records as JSON, and keeps those at hand that were written last.

mod cache;
pub mod events;
pub mod notice;

use selfsame_store::{MAX_PAGE, Page, Record, Store, TenantId};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

pub use cache::RecordCache;

/// Encodes a record's value as JSON.
///
/// # Errors
/// `Internal` if the value can't be JSON, such as a map with keys that are not texts.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::internal)
}

/// Decodes a record's value from JSON.
///
/// # Errors
/// `Internal` if the record is not one of this type.
pub fn decode<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(Error::internal)
}

/// What `read` makes of each record of a kind of a tenant, in order of insertion.
///
/// # Errors
/// The store's, and those of `read`.
pub async fn all<T>(
    store: &Store,
    tenant: &TenantId,
    kind: &str,
    read: impl Fn(&Record) -> Result<T>,
) -> Result<Vec<T>> {
    let (mut page, mut all) = (Page::first(MAX_PAGE), Vec::new());
    loop {
        let records = store.list(tenant, kind, &page).await?;
        for record in &records {
            all.push(read(record)?);
        }
        match records.last() {
            Some(last) => page = page.after(last.cursor()),
            None => return Ok(all),
        }
    }
}
