//! Connections: the list, one connection, and what can be done with it.

use selfsame_agent::connect::{DiscoveryView, NewDiscovery};
use selfsame_agent::{ConnectionView, ExchangeFilter, ExchangeProtocol, Exchanges};
use selfsame_agent_pages::connection::{ConnectionAct, ConnectionContent, ShownText};
use selfsame_agent_pages::connections::{ConnectionSearch, ConnectionsContent};
use selfsame_agent_view::seen::ExchangeSight;
use selfsame_aries::discover_features::FeatureQuery;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Path, Query};
use selfsame_pages::Frame;
use serde::Deserialize;

use crate::here::AgentHere;
use crate::shown;

/// How many connections a page has.
const PAGE: usize = 50;
/// How many are read at a time for a search, and how many it looks through before it shows what it has found.
const READ_AT_ONCE: usize = 100;
const LOOKED_AT: usize = 2_000;
/// How many exchanges of each kind stand on the page of a connection, and how many questions about features are looked
/// through for the newest answer.
const FEW: usize = 10;

/// What the list is asked for.
#[derive(Default, Deserialize)]
pub struct ConnectionsQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    state: String,
    after: Option<String>,
}

/// The list.
pub async fn list(
    agent: AgentHere,
    frame: Frame,
    Query(asked): Query<ConnectionsQuery>,
) -> Handled {
    let ConnectionsQuery { q, state, after } = asked;
    let name = q.trim().to_owned();
    let search = ConnectionSearch { name, state };
    let is_first = after.as_ref().is_none_or(String::is_empty);
    let found = found(&agent, &search, after).await?;
    let content = ConnectionsContent {
        base: agent.base(&frame),
        search,
        found: found.items,
        next: found.next,
        is_first,
    };
    shown::page(frame, "Agent", &content)
}

/// The next connections that fit. A search ends early, so that it stays short however many connections there are.
async fn found(
    agent: &AgentHere,
    search: &ConnectionSearch,
    mut after: Option<String>,
) -> Handled<Listing<ConnectionView>> {
    let limit = Some(if search.is_empty() {
        PAGE
    } else {
        READ_AT_ONCE
    });
    let (mut items, mut looked) = (Vec::new(), 0_usize);
    loop {
        let paging = Paging { after, limit };
        let listed = agent.agents().connections(&agent.tenant, &paging).await?;
        looked = looked.saturating_add(listed.items.len());
        items.extend(listed.items.into_iter().filter(|one| search.fits(one)));
        after = listed.next;
        if after.is_none() || items.len() >= PAGE || looked >= LOOKED_AT {
            return Ok(Listing { items, next: after });
        }
    }
}

/// What was just done.
#[derive(Deserialize)]
pub struct Arrival {
    done: Option<String>,
}

/// One connection.
pub async fn page(
    agent: AgentHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(arrival): Query<Arrival>,
) -> Handled {
    let (agents, tenant, rights) = (agent.agents(), &agent.tenant, agent.rights());
    let content = ConnectionContent {
        base: agent.base(&frame),
        view: agents.connection(tenant, &id).await?,
        their_endpoint: agents
            .connection_endpoints(tenant, &id)
            .await?
            .their_endpoint,
        protocols: protocols(&agent, &id).await?,
        issuing: exchanges(&agent, agents.issuing(), &id, rights.issued).await?,
        proofs: exchanges(&agent, agents.proving(), &id, rights.proofs).await?,
        texts: texts(&agent, &id).await?,
        done: arrival.done.as_deref().and_then(ConnectionAct::named),
    };
    shown::page(frame, "Connection", &content)
}

/// The newest texts of a connection.
async fn texts(agent: &AgentHere, id: &str) -> Handled<Vec<ShownText>> {
    let texts = agent.agents().texts(&agent.tenant, id).all().await?;
    let shown = texts.into_iter().map(|text| ShownText {
        content: text.content,
        is_ours: text.is_ours,
        at: text.at.rfc3339(),
    });
    Ok(shown.collect())
}

/// The protocols that the peer said it speaks, by its newest answer.
async fn protocols(agent: &AgentHere, id: &str) -> Handled<Option<Vec<String>>> {
    let (after, limit) = (None, Some(FEW));
    let paging = Paging { after, limit };
    let asked = agent
        .agents()
        .discovery_records(&agent.tenant, Some(id), &paging);
    let asked = asked.await?.items;
    Ok(asked.iter().find_map(DiscoveryView::protocols))
}

/// The newest exchanges on a connection; `None` for who may not see them.
async fn exchanges<P: ExchangeProtocol>(
    agent: &AgentHere,
    all: Exchanges<'_, P>,
    id: &str,
    may_see: bool,
) -> Handled<Option<Vec<ExchangeSight>>> {
    if !may_see {
        return Ok(None);
    }
    let filter = ExchangeFilter {
        connection_id: Some(id.to_owned()),
        ..ExchangeFilter::default()
    };
    let (after, limit) = (None, Some(FEW));
    let paging = Paging { after, limit };
    let found = all.seen_among(&agent.tenant, &filter, &paging).await?;
    Ok(Some(found.items))
}

/// Goes on with a connection that waits for this agent.
pub async fn accept(agent: AgentHere, Path(id): Path<String>) -> Handled {
    let agents = agent.agents();
    agents.accept_connection(&agent.tenant, &id).await?;
    shown::led(&format!("/agent/connections/{id}"))
}

/// Sends a trust ping.
pub async fn ping(agent: AgentHere, Path(id): Path<String>) -> Handled {
    agent.agents().ping(&agent.tenant, &id, None).await?;
    shown::led(&format!("/agent/connections/{id}?done=pinged"))
}

/// Sends a text.
pub async fn write(agent: AgentHere, Path(id): Path<String>, form: Form) -> Handled {
    let text = form.needed("text")?.to_owned();
    let agents = agent.agents();
    agents.send_text(&agent.tenant, &id, text).await?;
    shown::led(&format!("/agent/connections/{id}?done=written"))
}

/// Asks the peer which protocols it speaks.
pub async fn ask(agent: AgentHere, Path(id): Path<String>) -> Handled {
    let asked = NewDiscovery {
        connection_id: Some(id.clone()),
        major: 2,
        queries: vec![FeatureQuery {
            feature_type: "protocol".to_owned(),
            pattern: "*".to_owned(),
        }],
    };
    agent.agents().discover(&agent.tenant, asked).await?;
    shown::led(&format!("/agent/connections/{id}?done=asked"))
}

/// Removes a connection.
pub async fn remove(agent: AgentHere, Path(id): Path<String>) -> Handled {
    let agents = agent.agents();
    agents.remove_connection(&agent.tenant, &id).await?;
    shown::led("/agent")
}
