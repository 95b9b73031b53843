//! Copies of an instance: made while it runs, and begun with so that nothing is given out twice.

use std::path::PathBuf;

use selfsame_store::{Batch, MAX_PAGE, Page, Record, Store, TenantId};

use crate::error::Result;
use crate::{accounts, issuer, operator, parties, verifier};

/// The records of an instance, in its data directory and in a copy of it.
pub const STORE_FILE: &str = "store.sqlite";
/// The registry's ledger beside them, if it has one.
pub const LEDGER_FILE: &str = "ledger.sqlite";

/// More than an instance gives out of any counter between a copy and the day it is put back.
const LEAP: u64 = 1 << 32;

/// Where copies go.
#[derive(Clone, Debug)]
pub struct Copies {
    /// Each copy becomes a directory in here.
    pub folder: PathBuf,
    /// Files that belong to a copy as they are, where they exist.
    pub with: Vec<PathBuf>,
}

/// Begins with a copy, if this store is one that nobody has begun with: what was open in it ends, since it may have
/// been used after the copy was made, and every counter leaps.
pub(crate) async fn begin(store: &Store) -> Result<()> {
    let Some(copied) = store.copied_at().await? else {
        return Ok(());
    };
    let mut ended = 0;
    for (tenant, kind, is_open) in open_kinds() {
        ended += end(store, &tenant, kind, is_open).await?;
    }
    store.begin_with_copy(LEAP).await?;
    tracing::warn!(
        copied = %copied.rfc3339(),
        ended,
        "this data directory was restored from a backup: offers, codes, requests and sessions that were open in the \
         backup have ended, and what was revoked after it is valid again; revoke it again"
    );
    Ok(())
}

/// Whether a record is of something that has not ended.
type IsOpen = fn(&Record) -> Result<bool>;

/// What can be used once or for a while, by whom it is kept.
fn open_kinds() -> [(TenantId, &'static str, IsOpen); 6] {
    let always: IsOpen = |_| Ok(true);
    let instance = TenantId::instance;
    [
        (parties::issuer(), issuer::OFFER, always),
        (parties::issuer(), issuer::GRANT, always),
        (
            parties::verifier(),
            verifier::VERIFICATION,
            verifier::is_open,
        ),
        (instance(), accounts::SESSION, always),
        (instance(), operator::SESSION, always),
        // The next start makes a new token.
        (instance(), operator::TOKEN, always),
    ]
}

async fn end(store: &Store, tenant: &TenantId, kind: &str, is_open: IsOpen) -> Result<usize> {
    let (mut ended, mut page) = (0, Page::first(MAX_PAGE));
    loop {
        let records = store.list(tenant, kind, &page).await?;
        let Some(last) = records.last() else {
            return Ok(ended);
        };
        page = page.after(last.cursor());
        let mut batch = Batch::new(tenant.clone());
        for record in &records {
            if is_open(record)? {
                batch = batch.delete(kind, &record.id);
                ended += 1;
            }
        }
        store.commit(batch).await?;
    }
}
