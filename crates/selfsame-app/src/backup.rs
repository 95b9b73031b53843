//! Backups of an instance: taken while it runs, and restored so that nothing in them can be used twice.

use std::path::PathBuf;

use selfsame_driver::Result;
use selfsame_store::{Batch, MAX_PAGE, Page, Record, Store, TenantId};

use crate::{issuer, operator, parties, verifier};

pub use selfsame_store::backend::STORE_FILE;
pub use selfsame_store::ledger::LEDGER_FILE;

/// Advance of every counter on restore: more than an instance uses between a backup and its restore.
const LEAP: u64 = 1 << 32;

/// Where backups are written.
#[derive(Clone, Debug)]
pub struct Backups {
    /// Each backup becomes a directory in this one.
    pub folder: PathBuf,
    /// Further files to include in a backup, if they exist.
    pub with: Vec<PathBuf>,
}

/// Prepares a store that was restored from a backup and not started since: ends what was open in it, since it may have
/// been used after the backup was made, and advances every counter.
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

/// Whether a record stands for something that has not ended.
type IsOpen = fn(&Record) -> Result<bool>;

/// The kinds of records that can be used once or for a limited time, with their tenants.
fn open_kinds() -> [(TenantId, &'static str, IsOpen); 6] {
    let always: IsOpen = |_| Ok(true);
    let instance = TenantId::instance;
    [
        (parties::issuer().clone(), issuer::OFFER, always),
        (parties::issuer().clone(), issuer::GRANT, always),
        (
            parties::verifier().clone(),
            verifier::VERIFICATION,
            verifier::is_open,
        ),
        (instance(), selfsame_accounts::SESSION, always),
        (instance(), operator::SESSION, always),
        // The next start creates a new token.
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
