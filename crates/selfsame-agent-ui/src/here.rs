//! What the handlers need of the instance that serves them.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_agent::{AgentTerms, Agents};
use selfsame_agent_pages::{PageBase, PageRights};
use selfsame_anoncreds_wallet::{AnonCreds, PlacesByRegistry};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Result;
use selfsame_operators::{Area, Authority};
use selfsame_pages::Frame;
use selfsame_store::TenantId;
use url::Url;

/// The tenant of an agent's records.
pub type AgentTenant = TenantId;

/// What serves the pages of agents.
#[async_trait]
pub trait AgentHost: Send + Sync {
    /// The agents of the instance.
    fn agents(&self) -> &Agents;

    /// Revokes a credential, and tells controllers of it.
    async fn revoke(&self, tenant: &AgentTenant, revocation: &Revocation) -> Result<()>;

    /// Publishes pending revocations, and tells controllers of them.
    async fn publish(&self, tenant: &AgentTenant, of: &PlacesByRegistry) -> Result<()>;
}

/// A credential to revoke.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Revocation {
    /// Its registry.
    pub rev_reg_id: String,
    /// Its place there.
    pub cred_rev_id: u32,
    /// Whether the ledger is told at once, and not with the pending ones.
    pub publish: bool,
}

/// The agent of the organisation whose page was called, and who works with it.
#[derive(Clone)]
pub struct AgentHere {
    /// The instance.
    pub host: Arc<dyn AgentHost>,
    /// The tenant of the agent's records.
    pub tenant: AgentTenant,
    /// How the agent presents itself, and how far it goes on by itself.
    pub terms: AgentTerms,
    /// What the links of its invitations begin with; its endpoint without one.
    pub invite_base_url: Option<Url>,
    /// The organisation.
    pub organisation: OrganisationName,
    /// Who works with it.
    pub authority: Arc<Authority>,
}

impl AgentHere {
    /// The agents of the instance.
    pub(crate) fn agents(&self) -> &Agents {
        self.host.agents()
    }

    /// The AnonCreds of the agents.
    pub(crate) fn anoncreds(&self) -> &AnonCreds {
        self.host.agents().anoncreds()
    }

    /// What the person may do.
    pub(crate) fn rights(&self) -> PageRights {
        let may = |right| self.authority.may(&self.organisation, right);
        PageRights {
            connections: may(Area::Agent.read()),
            connect: may(Area::Agent.write()),
            issued: may(Area::Issuer.read()),
            revoke: may(Area::Issuer.write()),
            proofs: may(Area::Verifier.read()),
            ask: may(Area::Verifier.write()),
        }
    }

    /// What all pages have.
    pub(crate) fn base(&self, frame: &Frame) -> PageBase {
        PageBase {
            here: frame.here.clone(),
            form: frame.form.clone(),
            rights: self.rights(),
        }
    }

    /// A link of an invitation, below the base that the settings name.
    pub(crate) fn link(&self, url: &str) -> String {
        let Some(base) = &self.invite_base_url else {
            return url.to_owned();
        };
        let mut link = base.clone();
        link.set_query(url.split_once('?').map(|(_, query)| query));
        link.to_string()
    }
}
