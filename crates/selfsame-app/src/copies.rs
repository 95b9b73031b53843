//! Copies of an instance: made while it runs, and begun with so that nothing is given out twice.

use std::path::PathBuf;

use selfsame_store::{Batch, MAX_PAGE, Page, Record, Store, TenantId};

use crate::app::App;
use crate::error::{Error, Result};
use crate::{accounts, issuer, operator, verifier};

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

impl App {
    /// Copies all that is kept into a new directory, which is named by the time, and gives its path. The master key
    /// is not part of it.
    ///
    /// # Errors
    /// If it can't be written.
    pub async fn copy(&self, copies: &Copies) -> Result<PathBuf> {
        let registry = self.registry();
        if registry.is_ok_and(|registry| registry.health().is_ok_and(|health| health.is_some())) {
            // Begun with, it would vote again on what it has voted on since: two votes of one key.
            return Err(Error::bad_request(
                "a node of a network is not copied: begun with a copy, its key could vote twice",
            )
            .with_hint("a lost node is replaced by a new one: `selfsame registry join`; `selfsame registry export` writes what the registry holds into a file"));
        }
        let directory = copies
            .folder
            .join(self.clock().now().rfc3339().replace(':', ""));
        if directory.exists() {
            return Err(Error::bad_request("a copy was made within this second")
                .with_hint("use that one, or ask again"));
        }
        let (store, ledger) = (self.shared.store.clone(), self.ledger.clone());
        let (into, with) = (directory.clone(), copies.with.clone());
        // On a task of its own: who no longer waits does not leave half a copy.
        let copied: tokio::task::JoinHandle<Result<()>> = tokio::spawn(async move {
            // The records first: what the registry was told after them is told it again, which changes nothing there.
            store.copy(&into.join(STORE_FILE)).await?;
            if let Some(ledger) = ledger {
                ledger.copy(&into.join(LEDGER_FILE)).await?;
            }
            for file in with.iter().filter(|file| file.exists()) {
                if let Some(name) = file.file_name() {
                    std::fs::copy(file, into.join(name)).map_err(Error::internal)?;
                }
            }
            tracing::info!(directory = %into.display(), "a copy was made");
            Ok(())
        });
        copied.await.map_err(Error::internal)??;
        Ok(directory)
    }
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
        "these data are a copy: offers, codes, requests and sessions that were open in it have ended, and what was \
         revoked after it was made is no longer revoked; revoke it again"
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
        (issuer::tenant(), issuer::OFFER, always),
        (issuer::tenant(), issuer::GRANT, always),
        (
            verifier::tenant(),
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
