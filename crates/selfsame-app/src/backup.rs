//! Backups of an instance: taken while it runs, and restored so that nothing in them can be used twice.

use std::path::PathBuf;

use selfsame_driver::{Result, ShortLived};
use selfsame_store::{Batch, MAX_PAGE, Page, Store, TenantId};

use selfsame_core::organisation::Organisations;
use selfsame_openid::Roles;

use crate::operator;

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
    for short_lived in short_lived(store).await? {
        ended += end(store, &short_lived).await?;
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

/// The kinds of records that can be used once or for a limited time.
async fn short_lived(store: &Store) -> Result<Vec<ShortLived>> {
    let of_instance = |kind| ShortLived::of(TenantId::instance(), kind);
    let mut kinds = vec![
        of_instance(selfsame_accounts::SESSION),
        of_instance(operator::SESSION),
        // The next start creates a new token.
        of_instance(operator::TOKEN),
    ];
    kinds.extend(selfsame_operators::SHORT_LIVED.map(of_instance));
    kinds.extend(Roles::short_lived(store).await?);
    let main = TenantId::parse("issuer")?;
    for tenant in [main]
        .into_iter()
        .chain(Organisations::tenants(store).await?)
    {
        let of_tenant = |kind| ShortLived::of(tenant.clone(), kind);
        kinds.extend(selfsame_sign_in::SHORT_LIVED.map(of_tenant));
        kinds.push(of_tenant(selfsame_applications::APPLICATION));
    }
    Ok(kinds)
}

async fn end(store: &Store, short_lived: &ShortLived) -> Result<usize> {
    let ShortLived {
        tenant,
        kind,
        is_open,
    } = short_lived;
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
