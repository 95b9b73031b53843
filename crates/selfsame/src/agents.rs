//! The listeners of Aries agents: one for the admin API of each, one for its peers.

use std::net::SocketAddr;
use std::sync::Arc;

use selfsame_acapy::{AdminSettings, AgentSection};
use selfsame_app::App;
use selfsame_app::config::{AgentConfig, AgentController};
use selfsame_bulk::Bulks;
use selfsame_server::FurtherListener;
use selfsame_terminal::exit::Failure;
use serde::Serialize;
use tokio::net::TcpListener;
use url::Url;

use selfsame_terminal::listening::{bind, bind_beside};

/// An agent whose addresses are bound.
pub struct BoundAgent {
    settings: AdminSettings,
    admin: TcpListener,
    inbound: TcpListener,
    controllers: Vec<AgentController>,
    /// Where it is.
    pub at: AgentAddresses,
}

/// Where an agent is.
#[derive(Clone, Debug, Serialize)]
pub struct AgentAddresses {
    /// The name of the organisation whose agent it is.
    pub organisation: String,
    /// Where its admin API listens.
    pub admin: SocketAddr,
    /// The URL that its peers post to.
    pub endpoint: Url,
}

impl BoundAgent {
    /// Listens for these agents.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub async fn bind_all(agents: &[AgentSection], is_shared: bool) -> Result<Vec<Self>, Failure> {
        let mut bound = Vec::new();
        for section in agents {
            bound.push(Self::bind(section, is_shared).await?);
        }
        Ok(bound)
    }

    /// Listens for an agent; beside other processes if the addresses are shared.
    ///
    /// # Errors
    /// If a setting can't work, or an address is taken.
    pub async fn bind(section: &AgentSection, is_shared: bool) -> Result<Self, Failure> {
        let listen = async |at| match is_shared {
            true => bind_beside(at),
            false => bind(at).await,
        };
        let (admin, inbound) = (
            listen(section.admin()?).await?,
            listen(section.inbound()?).await?,
        );
        let endpoint = match section.endpoint() {
            Some(endpoint) => endpoint.clone(),
            None => reached_at(inbound.local_addr()?)?,
        };
        let bound = admin.local_addr()?;
        Ok(Self {
            settings: section.face(bound, &endpoint)?,
            admin,
            inbound,
            controllers: section.controllers()?,
            at: AgentAddresses {
                organisation: section.organisation().to_owned(),
                admin: bound,
                endpoint,
            },
        })
    }

    /// The agent, for the application.
    pub fn config(&self) -> AgentConfig {
        AgentConfig {
            organisation: self.at.organisation.clone(),
            terms: self.settings.terms.clone(),
            endorsement: self.settings.endorsement.clone(),
            controllers: self.controllers.clone(),
            invite_base_url: self.settings.invite_base_url.clone(),
        }
    }

    /// The origins that the settings name, which may be on this machine.
    pub fn origins(&self) -> impl Iterator<Item = url::Origin> {
        let controllers = self.controllers.iter().map(|one| &one.url);
        let urls = controllers.chain([&self.at.endpoint]);
        urls.map(Url::origin)
    }

    /// The listeners of these agents, with what they serve. The orders of many credentials are worked on from now on.
    pub fn serve_all(agents: Vec<Self>, app: &Arc<App>) -> Vec<FurtherListener> {
        let bulks = Bulks::new(app.agents().clone());
        if !agents.is_empty() {
            tokio::spawn(bulks.clone().work(app.stopping()));
        }
        let agents = agents.into_iter();
        agents
            .flat_map(|agent| agent.listeners(app, &bulks))
            .collect()
    }

    /// The listeners, with what they serve. `bulks` has the orders of all agents.
    fn listeners(self, app: &Arc<App>, bulks: &Bulks) -> [FurtherListener; 2] {
        // TLS ends in a proxy on this machine.
        let is_proxied = self.at.endpoint.scheme() == "https";
        let is_here = |listener: &TcpListener| {
            let at = listener.local_addr();
            at.is_ok_and(|at| at.ip().to_canonical().is_loopback())
        };
        [
            FurtherListener {
                is_proxied: false,
                router: selfsame_acapy::admin(app.clone(), self.settings, bulks.clone()),
                listener: self.admin,
            },
            FurtherListener {
                is_proxied: is_proxied && is_here(&self.inbound),
                router: selfsame_acapy::inbound(app.clone()),
                listener: self.inbound,
            },
        ]
    }
}

/// The URL of an address.
fn reached_at(bound: SocketAddr) -> Result<Url, Failure> {
    if bound.ip().is_unspecified() {
        return Err(Failure::environment(format!(
            "[[agents]]: inbound {bound} means every address of this machine, not a name for peers"
        ))
        .hint("set endpoint to the URL that its peers post to"));
    }
    Url::parse(&format!("http://{bound}/")).map_err(|error| Failure::ours(error.to_string()))
}
