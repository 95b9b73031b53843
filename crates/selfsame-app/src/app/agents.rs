//! The Aries agents of an instance: each is an organisation's, which is created at the start if it does not exist.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use selfsame_agent::{AgentSettings, AgentTerms, Agents, Hearing};
use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_core::dids::Author;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::view::NewOrganisation;
use selfsame_core::organisation::{HostedOrganisation, OrganisationName};
use selfsame_dif::{DifFormat, IntegrityFormat};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::terms::MediationTerms;
use selfsame_openid::Roles;
use selfsame_openid::issuer::Issuer;
use selfsame_store::TenantId;
use url::Url;

use super::{App, receiver_of, wallets};
use crate::config::{AgentConfig, Config};

/// The agent of an organisation, as its pages work with it.
#[derive(Clone, Debug)]
pub struct OrganisationAgent {
    /// The tenant of its records.
    pub tenant: TenantId,
    /// How it presents itself, and how far it goes on by itself.
    pub terms: AgentTerms,
    /// What the links of its invitations begin with; its endpoint without one.
    pub invite_base_url: Option<Url>,
}

/// The agents on these parts of an instance.
pub(super) fn agents(
    config: &Config,
    anoncreds: &AnonCreds,
    hearing: Hearing,
    roles: &Arc<Roles>,
) -> Agents {
    // Nothing reaches an agent of an instance whose settings name none.
    let common = || AgentTerms {
        label: "Selfsame".to_owned(),
        endpoint: config.origin.clone(),
        socket: None,
        settings: AgentSettings::default(),
        mediation: MediationTerms::default(),
        connection_wait: Duration::ZERO,
    };
    let first = config.agents.first().map(|agent| agent.terms.clone());
    let agents = Agents::new(anoncreds.clone(), first.unwrap_or_else(common), hearing);
    agents.set_formats(vec![
        Arc::new(DifFormat::new(anoncreds.clone(), roles)),
        Arc::new(IntegrityFormat::new(anoncreds.clone())),
    ]);
    agents
}

/// Checks that no organisation has two agents.
pub(super) fn check(agents: &[AgentConfig]) -> Result<()> {
    for (place, agent) in agents.iter().enumerate() {
        OrganisationName::parse(&agent.organisation)?;
        let is_same = |other: &AgentConfig| other.organisation == agent.organisation;
        if agents.iter().take(place).any(is_same) {
            return Err(Error::bad_request("agent-twice").with("organisation", &agent.organisation));
        }
    }
    Ok(())
}

impl App {
    /// Its Aries agents.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The credentials that are JWTs, as its agents attach them.
    #[must_use]
    pub fn dif(&self) -> DifFormat {
        DifFormat::new(self.anoncreds().clone(), &self.roles)
    }

    /// The tenant of the agent that the settings give an organisation.
    ///
    /// # Errors
    /// `Unavailable` until the instance is started; `NotFound` if the settings name no such agent.
    pub fn agent_of(&self, organisation: &str) -> Result<TenantId> {
        let starting = || Error::new(ErrorKind::Unavailable { retry_after: 1 }, "agent-starting");
        let tenants = self.agent_tenants.get().ok_or_else(starting)?;
        let tenant = tenants.get(organisation).cloned();
        tenant.ok_or_else(|| Error::not_found("agent-absent"))
    }

    /// Whether an organisation has an agent: one of its own, or as a sub-wallet.
    #[must_use]
    pub fn has_agent(&self, organisation: &OrganisationName) -> bool {
        let name = organisation.to_string();
        self.agent_config(&name).is_some() || wallets::id_of(&name).is_some()
    }

    /// The agent of an organisation: one of its own, or that of the sub-wallet that it is.
    ///
    /// # Errors
    /// As [`Self::agent_of`]; the store's.
    pub async fn agent_at(&self, organisation: &OrganisationName) -> Result<OrganisationAgent> {
        let name = organisation.to_string();
        if let Some(config) = self.agent_config(&name) {
            return Ok(OrganisationAgent {
                tenant: self.agent_of(&name)?,
                terms: config.terms.clone(),
                invite_base_url: config.invite_base_url.clone(),
            });
        }
        let absent = || Error::not_found("agent-absent");
        let found = self.wallet_at(&name).await?.ok_or_else(absent)?;
        let config = self.agent_config(&found.wallet.agent).ok_or_else(absent)?;
        let tenant = found.tenant()?;
        let terms = AgentTerms {
            label: found.wallet.label,
            ..config.terms.clone()
        };
        // Another process may have created or changed it.
        self.agents.set_terms(&tenant, terms.clone());
        Ok(OrganisationAgent {
            tenant,
            terms,
            invite_base_url: config.invite_base_url.clone(),
        })
    }

    fn agent_config(&self, organisation: &str) -> Option<&AgentConfig> {
        let mut agents = self.config.agents.iter();
        agents.find(|agent| agent.organisation == organisation)
    }

    /// The identity that signs what a tenant's agent publishes.
    ///
    /// # Errors
    /// `NotFound` if the tenant is no organisation that issues; the store's.
    pub async fn agent_author(&self, tenant: &TenantId) -> Result<Author> {
        Ok(Author::of(&*self.agent_identity(tenant).await?))
    }

    /// The identity of a tenant's agent, which others know it by.
    ///
    /// # Errors
    /// As [`Self::agent_author`].
    pub async fn agent_identity(&self, tenant: &TenantId) -> Result<Arc<Identity>> {
        Ok(self.agent_issuer(tenant).await?.identity().clone())
    }

    /// The issuer of the organisation whose agent has this tenant.
    ///
    /// # Errors
    /// As [`Self::agent_author`].
    pub async fn agent_issuer(&self, tenant: &TenantId) -> Result<Arc<Issuer>> {
        if self.main().organisation.issuer == *tenant {
            return Ok(self.main().issuer()?.clone());
        }
        let hosted = self.organisations().of_tenant(tenant).await?;
        let hosted = hosted.ok_or_else(|| Error::not_found("agent-absent"))?;
        let roles = self.roles.of(&hosted).await?;
        Ok(roles.issuer()?.clone())
    }

    /// Makes the organisations that the settings name agents, and creates those that do not exist.
    pub(super) async fn open_agents(&self) -> Result<()> {
        self.webhooks.look_for_controllers().await?;
        let mut tenants = HashMap::new();
        for agent in &self.config.agents {
            let tenant = self.agent_tenant(agent).await?;
            self.agents.set_terms(&tenant, agent.terms.clone());
            let endorsement = agent.endorsement.clone();
            self.endorsements.set_terms(&tenant, endorsement);
            if let Some(owner) = receiver_of(&tenant) {
                self.webhooks
                    .configure_controllers(&owner, &agent.controllers)
                    .await?;
            }
            tenants.insert(agent.organisation.clone(), tenant);
        }
        for tenant in tenants.values() {
            self.meet_endorser(tenant.clone());
        }
        let _ = self.agent_tenants.set(tenants);
        Ok(())
    }

    async fn agent_tenant(&self, agent: &AgentConfig) -> Result<TenantId> {
        let name = OrganisationName::parse(&agent.organisation)?;
        if name.is_main() {
            return Ok(self.main().organisation.issuer.clone());
        }
        self.hosted(&name, &agent.terms.label).await?.tenant()
    }

    /// The organisation with this name, which is created if it does not exist.
    async fn hosted(&self, name: &OrganisationName, title: &str) -> Result<HostedOrganisation> {
        if let Some(found) = self.organisations().find(name).await? {
            return Ok(found);
        }
        let new = NewOrganisation {
            name: name.to_string(),
            title: title.to_owned(),
            issuer: true,
            verifier: true,
            samples: false,
            did_method: None,
            host: None,
        };
        match self.create_organisation(&new).await {
            Ok(_) => {}
            // Another process was faster.
            Err(error) if error.kind == ErrorKind::Conflict => {}
            Err(error) => return Err(error),
        }
        let found = self.organisations().find(name).await?;
        found.ok_or_else(|| Error::not_found("organisation-unknown"))
    }
}
