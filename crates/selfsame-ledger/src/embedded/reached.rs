//! The height that the ledger has reached, noted in the store. A ledger that ends below it has lost blocks of which
//! others hold signed checkpoints. To continue from there would make a second history under the same key.

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::ledger::LedgerStore;
use selfsame_store::{Batch, Put, Store};

use crate::network::tenant;

pub(crate) const REACHED: &str = "reached";

/// Notes the ledger's height. Its blocks are durable already, so the note is never ahead of them. If a note is lost
/// with the process, the older note that remains is harmless.
pub async fn note(store: &Store, ledger: &dyn LedgerStore) -> Result<()> {
    let height = ledger.head()?.map_or(0, |head| head.height);
    if height <= reached(store).await? {
        return Ok(());
    }
    store.commit(noted(height)?.deferred()).await?;
    Ok(())
}

/// Checks that the ledger is complete, or that it is a backup that was restored on purpose.
///
/// # Errors
/// `Gone` if the ledger ends below the height that it had reached.
pub(crate) async fn is_in(store: &Store, ledger: &dyn LedgerStore) -> Result<()> {
    let height = ledger.head()?.map_or(0, |head| head.height);
    let reached = reached(store).await?;
    let is_copy = height > 0 && ledger.copied_at()? == Some(height);
    if is_copy {
        tracing::warn!(
            height,
            reached,
            "the registry's ledger is a backup: later writes are lost, including uses of prescriptions; readers that have \
             seen them report two histories until they get a new trust root (docs/network.md)"
        );
    }
    if height >= reached {
        return Ok(());
    }
    if is_copy {
        return Ok(store.commit(noted(height)?).await.map(drop)?);
    }
    Err(Error::new(ErrorKind::Gone, "ledger-lost-blocks")
        .with("height", &height)
        .with("reached", &reached))
}

/// Checks that the store is at least as new as the ledger last saw it. An older store would assign again what it has
/// assigned since, such as places in status lists. The generation of a store restored on purpose was moved ahead.
///
/// # Errors
/// `Gone` if the store is older.
pub(super) fn store_is_not_older(store: &Store, ledger: &dyn LedgerStore) -> Result<()> {
    let noted = ledger.noted_store()?;
    match (store.generation(), noted) {
        (Some(now), Some(noted)) if now < noted => {
            tracing::error!(
                now,
                noted,
                "the store has fewer commits than its ledger has seen"
            );
            Err(Error::new(ErrorKind::Gone, "store-older-than-ledger"))
        }
        _ => Ok(()),
    }
}

fn noted(height: u64) -> Result<Batch> {
    let put = Put::new(REACHED, "own", height.to_be_bytes().to_vec());
    Ok(Batch::new(tenant()?).put(put))
}

async fn reached(store: &Store) -> Result<u64> {
    let record = store.read(&tenant()?, REACHED, "own").await?;
    record.map_or(Ok(0), |record| height(&record.value))
}

/// The height in the value of a note.
pub(crate) fn height(value: &[u8]) -> Result<u64> {
    <[u8; 8]>::try_from(value)
        .map(u64::from_be_bytes)
        .map_err(Error::internal)
}
