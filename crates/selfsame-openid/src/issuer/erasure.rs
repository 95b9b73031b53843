//! What remains of issued credentials after an erasure: the places of those that are not valid, which the status lists
//! are made of, and the number of the newest list.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{all, decode, encode};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, Store, TenantId};
use serde::{Deserialize, Serialize};

use super::register::{ISSUED, IssuedRecord};
use crate::view::issuer::{CredentialStatus, ValidIssued};
use crate::view::list_faces::ListPlace;

/// The kind of the records of places that are not valid.
pub(crate) const WITHDRAWN: &str = "withdrawn";
/// The kind of the record with the number of the newest list.
pub(crate) const NEWEST: &str = "status_newest";
const NEWEST_ID: &str = "own";
/// Credentials that are looked through to count the valid ones.
const COUNTED_MAX: usize = 2_000;

/// A place that is not valid, without anything else of its credential.
#[derive(Deserialize, Serialize)]
pub(super) struct WithdrawnPlace {
    pub place: ListPlace,
    pub status: CredentialStatus,
}

/// Removes the oldest issued credentials; keeps the places of those that are not valid. Returns how many were removed.
pub(crate) async fn strip_issued(store: &Store, tenant: &TenantId, most: usize) -> Result<usize> {
    let records = store.list(tenant, ISSUED, &Page::first(most)).await?;
    if records.is_empty() {
        return Ok(0);
    }
    let mut newest = newest_stripped(store, tenant).await?;
    let mut batch = Batch::new(tenant.clone());
    for record in &records {
        let issued: IssuedRecord = decode(&record.value)?;
        newest = newest.max(issued.place.list);
        batch = batch
            .expect(ISSUED, &record.id, Expect::Version(record.version))
            .delete(ISSUED, &record.id);
        if issued.status != CredentialStatus::Valid {
            let ListPlace { list, index } = &issued.place;
            let id = format!("{list}.{index}");
            let kept = WithdrawnPlace {
                place: issued.place,
                status: issued.status,
            };
            batch = batch.put(Put::new(WITHDRAWN, id, encode(&kept)?));
        }
    }
    let batch = batch.put(Put::new(NEWEST, NEWEST_ID, encode(&newest)?));
    store.commit(batch).await?;
    Ok(records.len())
}

/// The places that are left of credentials that were erased.
pub(super) async fn stripped(store: &Store, tenant: &TenantId) -> Result<Vec<WithdrawnPlace>> {
    all(store, tenant, WITHDRAWN, |record| decode(&record.value)).await
}

/// The number of the newest list of an issuer whose credentials were erased.
pub(super) async fn newest_stripped(store: &Store, tenant: &TenantId) -> Result<u64> {
    let kept = store.read(tenant, NEWEST, NEWEST_ID).await?;
    kept.map_or(Ok(0), |kept| decode(&kept.value))
}

/// The valid ones among the newest credentials of an issuer.
pub(crate) async fn valid_issued(
    store: &Store,
    tenant: &TenantId,
    now: UnixTime,
) -> Result<ValidIssued> {
    let mut found = ValidIssued {
        count: 0,
        is_part: true,
        last_expires: None,
    };
    let (mut page, mut looked) = (Page::newest(MAX_PAGE), 0);
    while looked < COUNTED_MAX {
        let records = store.list(tenant, ISSUED, &page).await?;
        for record in &records {
            let issued: IssuedRecord = decode(&record.value)?;
            if issued.status == CredentialStatus::Valid && now < issued.expires {
                found.count = found.count.saturating_add(1);
                found.last_expires = found.last_expires.max(Some(issued.expires));
            }
        }
        looked = looked.saturating_add(records.len());
        match records.last().filter(|_| records.len() == MAX_PAGE) {
            Some(last) => page = page.after(last.cursor()),
            None => {
                found.is_part = false;
                break;
            }
        }
    }
    Ok(found)
}
