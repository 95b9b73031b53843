//! A node of a network of validators, as the registry of an instance.

use std::path::Path;
use std::sync::Arc;

use selfsame_abci::{CheckpointKey, Node, Setup};
use selfsame_crypto::KeyHandle;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_store::{Store, TenantId};
use selfsame_terminal::exit::Failure;

use super::Validating;
use crate::private_directory;

impl Validating {
    /// Starts the node and its engine, with the checkpoint's key in the instance's store.
    pub async fn start(&self, data: &Path, store: &Store) -> Result<Arc<Node>, Failure> {
        let keys = Keys::new(store.clone());
        let tenant =
            TenantId::parse("registry").map_err(|error| Failure::ours(error.to_string()))?;
        let key = self.home.checkpoint_key()?;
        let handle = KeyHandle::of(key.public());
        keys.import(&tenant, key).await?;
        let signer = CheckpointKey {
            name: self.home.name().to_owned(),
            keys,
            tenant,
            key: handle,
        };
        let (home, engine, ledger) = (
            self.home.clone(),
            self.engine.clone(),
            private_directory::ledger(data)?,
        );
        let setup = Setup::new(home, engine, ledger, signer, Clock::default());
        Ok(Arc::new(Node::start(setup).await?))
    }
}
