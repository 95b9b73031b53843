//! The rows of remote Indy wallets, for programs with API keys.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Result;
use selfsame_operators::{Actor, Area, Operators};
use selfsame_remote_wallet::{KeyKnower, RemoteWallets, RemoteWalletsParts, RowsProgram};

use super::App;

impl App {
    /// The remote wallets of its organisations.
    #[must_use]
    pub fn remote_wallets(&self) -> RemoteWallets {
        RemoteWallets::new(RemoteWalletsParts {
            shared: self.shared.clone(),
            keys: Arc::new(ApiKeys(self.operators.clone())),
            is_served: self.config.wallet.remote_wallets,
        })
    }
}

/// The API keys of an instance.
struct ApiKeys(Arc<Operators>);

#[async_trait]
impl KeyKnower for ApiKeys {
    async fn program(&self, at: &OrganisationName, key: &str) -> Result<Option<RowsProgram>> {
        let Some(authority) = self.0.of_key(key).await? else {
            return Ok(None);
        };
        let reads = authority.needs(at, Area::Issuer.read());
        let writes = authority.needs(at, Area::Issuer.write());
        Ok(match authority.actor {
            Actor::Key { name, .. } => Some(RowsProgram {
                name,
                reads,
                writes,
            }),
            Actor::Person { .. } | Actor::Token => None,
        })
    }
}
