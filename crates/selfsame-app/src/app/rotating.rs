//! The rotation of the master key: begun by the operator, and carried on by the worker.

use std::sync::Arc;

use selfsame_driver::Result;

use super::App;
use crate::rotation;
use crate::view::instance::MasterKeyStatus;

impl App {
    /// Begins a rotation to the next master key, which this process finds where its settings say.
    ///
    /// # Errors
    /// `BadRequest` if there is no next key; `Conflict` if a rotation is under way; the store's.
    pub async fn rotate_master_key(&self) -> Result<MasterKeyStatus> {
        rotation::begin(&self.shared.store).await?;
        self.master_key().await
    }

    /// Under which master key the records are, and how far a rotation is.
    ///
    /// # Errors
    /// The store's.
    pub async fn master_key(&self) -> Result<MasterKeyStatus> {
        rotation::progress(&self.shared.store).await
    }

    /// Carries a rotation on, beside the work of the worker: it may take long.
    pub(super) fn keep_master_key(self: &Arc<Self>) {
        let app = self.clone();
        tokio::spawn(async move { app.rotation.look(&app.shared.store).await });
    }
}
