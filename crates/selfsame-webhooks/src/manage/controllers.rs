//! The controllers of agents, which hear of records in ACA-Py's form.

use std::collections::HashSet;

use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::{sha256, sha256_parts};
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use url::Url;

use crate::endpoint::{ControllerAt, Endpoint, EndpointForm};
use crate::records;
use crate::webhooks::Webhooks;

/// A controller that hears of an agent's records.
#[derive(Clone, Debug)]
pub struct AgentController {
    /// The base of its addresses.
    pub url: Url,
    /// The key that it is sent; empty if it wants none.
    pub key: SecretString,
    /// The sub-wallet whose records it hears of.
    pub wallet: Option<String>,
}

impl AgentController {
    /// The controller at this URL, whose fragment is the key that it is sent.
    ///
    /// # Errors
    /// `BadRequest` if it is no URL.
    pub fn parse(text: &str) -> Result<Self> {
        let refused = |error| Error::bad_request("webhook-url-refused").with("detail", &error);
        let mut url = Url::parse(text).map_err(refused)?;
        let key = SecretString::from(url.fragment().unwrap_or_default());
        url.set_fragment(None);
        Ok(Self {
            url,
            key,
            wallet: None,
        })
    }

    /// The identifier of its endpoint, the same in every process.
    fn id(&self) -> String {
        let wallet = self.wallet.as_deref().unwrap_or_default();
        let parts = [wallet, self.url.as_str(), self.key.expose()];
        let parts = parts.map(|part| sha256(part.as_bytes()));
        let hash = sha256_parts(&parts.each_ref().map(<[u8; 32]>::as_slice));
        let (half, _) = hash.split_at(16);
        format!("agent-{}", hex_encode(half))
    }
}

impl Webhooks {
    /// Makes exactly these the controllers of a tenant's agent that the settings name. Others stay.
    ///
    /// # Errors
    /// Those of [`Self::add_controller`].
    pub async fn configure_controllers(
        &self,
        owner: &TenantId,
        controllers: &[AgentController],
    ) -> Result<()> {
        let wanted: HashSet<String> = controllers.iter().map(AgentController::id).collect();
        let found = records::endpoints(&self.shared.store, owner).await?;
        let is_configured = |endpoint: &Endpoint| match &endpoint.form {
            EndpointForm::Agent(controller) => controller.is_configured,
            EndpointForm::Standard | EndpointForm::Book(_) => false,
        };
        for one in &found {
            if is_configured(&one.endpoint) && !wanted.contains(&one.id) {
                self.remove(owner, &one.id).await?;
            }
        }
        for controller in controllers {
            let id = controller.id();
            match found.iter().any(|one| one.id == id) {
                true => self.hearers.note(owner),
                false => self.put_controller(owner, controller, true).await?,
            }
        }
        Ok(())
    }

    /// Adds a controller of a tenant's agent. It hears of what happens from now on.
    ///
    /// # Errors
    /// `BadRequest` for a URL that is not called; `Conflict` if the tenant has too many endpoints.
    pub async fn add_controller(
        &self,
        owner: &TenantId,
        controller: &AgentController,
    ) -> Result<()> {
        self.put_controller(owner, controller, false).await
    }

    /// Removes the controllers of a tenant's agent that the settings do not name.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove_controllers(&self, owner: &TenantId) -> Result<()> {
        for one in records::endpoints(&self.shared.store, owner).await? {
            if let EndpointForm::Agent(controller) = &one.endpoint.form
                && !controller.is_configured
            {
                self.remove(owner, &one.id).await?;
            }
        }
        Ok(())
    }

    /// Looks again which tenants have controllers.
    ///
    /// # Errors
    /// The store's.
    pub async fn look_for_controllers(&self) -> Result<()> {
        self.hearers
            .replace(records::heard_owners(&self.shared.store).await?);
        Ok(())
    }

    async fn put_controller(
        &self,
        owner: &TenantId,
        controller: &AgentController,
        is_configured: bool,
    ) -> Result<()> {
        let form = EndpointForm::Agent(ControllerAt {
            key: controller.key.clone(),
            wallet: controller.wallet.clone(),
            is_configured,
        });
        let endpoint = Endpoint {
            form,
            ..Endpoint::new(
                self.called(controller.url.as_str())?,
                &self.shared.clock.ctx(),
            )
        };
        endpoint.check()?;
        self.insert(owner, &controller.id(), &endpoint).await?;
        self.hearers.note(owner);
        Ok(())
    }
}
