//! Who may use the rows of an organisation.

use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_core::organisation::Organisation;
use selfsame_driver::{Error, ErrorKind, Result};

use crate::program::{KeyKnower, RowsProgram};
use crate::rows::WalletRows;

/// The remote wallets of an instance. Clones are the same.
#[derive(Clone)]
pub struct RemoteWallets(Arc<RemoteWalletsParts>);

/// What they are built on.
pub struct RemoteWalletsParts {
    /// The instance's parts.
    pub shared: Arc<Shared>,
    /// Who knows API keys.
    pub keys: Arc<dyn KeyKnower>,
    /// Whether the instance serves them: `[wallet] remote_wallets`.
    pub is_served: bool,
}

impl RemoteWallets {
    /// Those of an instance.
    #[must_use]
    pub fn new(parts: RemoteWalletsParts) -> Self {
        Self(Arc::new(parts))
    }

    /// The token of further calls: the API key itself, if it is one of this organisation and has this name.
    ///
    /// # Errors
    /// `NotFound` if they are not served; `BadRequest` for another name or secret, as the service of 2018 answers.
    pub async fn signed_in(&self, at: &Organisation, name: &str, key: &str) -> Result<String> {
        self.served()?;
        let program = self.0.keys.program(&at.name, key).await?;
        let may = |one: &RowsProgram| one.reads.is_ok() || one.writes.is_ok();
        match program.filter(|one| one.name == name && may(one)) {
            Some(_) => Ok(key.to_owned()),
            None => Err(Error::bad_request("remote-wallet-sign-in")),
        }
    }

    /// The rows of an organisation, for the program with this API key.
    ///
    /// # Errors
    /// `NotFound` if they are not served; `Unauthenticated` without a valid API key.
    pub async fn opened(&self, at: &Organisation, token: Option<&str>) -> Result<WalletRows> {
        self.served()?;
        let unknown = || Error::new(ErrorKind::Unauthenticated, "remote-wallet-token");
        let token = token.ok_or_else(unknown)?;
        let program = self.0.keys.program(&at.name, token).await?;
        let shared = &self.0.shared;
        Ok(WalletRows {
            naming: shared.instance_key("rows of remote wallets").await?,
            store: shared.store.clone(),
            clock: shared.clock.clone(),
            tenant: at.issuer.clone(),
            program: program.ok_or_else(unknown)?,
        })
    }

    fn served(&self) -> Result<()> {
        match self.0.is_served {
            true => Ok(()),
            false => Err(Error::not_found("address-unknown")),
        }
    }
}
