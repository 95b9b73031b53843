//! Backups of a running instance.

use selfsame_driver::{Error, Result};

use super::App;
use crate::backup::{Backups, LEDGER_FILE, STORE_FILE};
use crate::view::instance::CopyMade;

impl App {
    /// Copies all stored data except the master key into a new directory, named by the time; returns its path.
    ///
    /// # Errors
    /// `NotFound` if backups have no place; or if the backup can't be written.
    pub async fn copy(&self, backups: Option<&Backups>) -> Result<CopyMade> {
        let backups = backups.ok_or_else(|| Error::not_found("backup-folder-absent"))?;
        let registry = self.registry();
        if registry.is_ok_and(|registry| registry.health().is_ok_and(|health| health.is_some())) {
            // Started from a backup, a node would vote again on what it has voted on since: two votes of one key.
            return Err(Error::bad_request("backup-of-network-node"));
        }
        let directory = backups
            .folder
            .join(self.clock().now().rfc3339().replace(':', ""));
        if directory.exists() {
            return Err(Error::bad_request("backup-exists"));
        }
        let (store, ledger) = (self.shared.store.clone(), self.ledger.clone());
        let (into, with) = (directory.clone(), backups.with.clone());
        // In a task of its own, so that a caller who stops waiting does not leave half a backup.
        let copied: tokio::task::JoinHandle<Result<()>> = tokio::spawn(async move {
            // The records first: transactions sent after that are sent again on restore, which changes nothing.
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
        Ok(CopyMade {
            directory: directory.display().to_string(),
        })
    }
}
