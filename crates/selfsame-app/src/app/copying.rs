//! Copies of a running instance.

use std::path::PathBuf;

use super::App;
use crate::copies::{Copies, LEDGER_FILE, STORE_FILE};
use crate::error::{Error, Result};

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
                "a network's node can't be backed up: started from a backup, its key could vote twice",
            )
            .with_hint("replace a lost node by a new one with `selfsame registry join`; `selfsame registry export` writes the registry's contents to a file"));
        }
        let directory = copies
            .folder
            .join(self.clock().now().rfc3339().replace(':', ""));
        if directory.exists() {
            return Err(Error::bad_request("a backup was made within this second")
                .with_hint("use that backup, or try again"));
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
            tracing::info!(directory = %into.display(), "backup written");
            Ok(())
        });
        copied.await.map_err(Error::internal)??;
        Ok(directory)
    }
}
