//! Exchanges: the lists of issuings and of proofs, and one of each.

use std::collections::BTreeMap;

use selfsame_agent::{ExchangeFilter, ExchangeProtocol, Exchanges};
use selfsame_agent_pages::exchange::{ExchangeContent, IssuedAt};
use selfsame_agent_pages::exchanges::{
    ExchangeKind, ExchangeSearch, ExchangesContent, NamedExchange,
};
use selfsame_agent_pages::peer_name;
use selfsame_agent_view::seen::ExchangeSight;
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Path, Query};
use selfsame_pages::Frame;
use serde::Deserialize;

use crate::here::AgentHere;
use crate::shown;

/// How many exchanges a page has.
const PAGE: usize = 25;
/// How many a search looks through before it shows what it has found.
const LOOKED_AT: usize = 1_000;

/// What a list is asked for.
#[derive(Default, Deserialize)]
pub struct ExchangesQuery {
    #[serde(default)]
    role: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    connection: String,
    after: Option<String>,
}

impl ExchangesQuery {
    fn search(&self) -> ExchangeSearch {
        ExchangeSearch {
            role: self.role.clone(),
            state: self.state.clone(),
            connection: self.connection.clone(),
        }
    }
}

/// The issuings.
pub async fn issuing(
    agent: AgentHere,
    frame: Frame,
    Query(asked): Query<ExchangesQuery>,
) -> Handled {
    let kind = ExchangeKind::Issuing;
    let found = found(&agent, agent.agents().issuing(), &asked).await?;
    let content = content(&agent, &frame, asked, FoundExchanges { kind, found }).await?;
    shown::page(frame, kind.title(), &content)
}

/// The proofs.
pub async fn proofs(
    agent: AgentHere,
    frame: Frame,
    Query(asked): Query<ExchangesQuery>,
) -> Handled {
    let kind = ExchangeKind::Proofs;
    let found = found(&agent, agent.agents().proving(), &asked).await?;
    let content = content(&agent, &frame, asked, FoundExchanges { kind, found }).await?;
    shown::page(frame, kind.title(), &content)
}

/// The exchanges that were found.
struct FoundExchanges {
    kind: ExchangeKind,
    found: Listing<ExchangeSight>,
}

async fn content(
    agent: &AgentHere,
    frame: &Frame,
    asked: ExchangesQuery,
    listed: FoundExchanges,
) -> Handled<ExchangesContent> {
    Ok(ExchangesContent {
        base: agent.base(frame),
        kind: listed.kind,
        search: asked.search(),
        found: named(agent, listed.found.items).await?,
        next: listed.found.next,
        is_first: asked.after.as_ref().is_none_or(String::is_empty),
    })
}

/// The next exchanges that fit. A search ends early, so that it stays short however many exchanges there are.
async fn found<P: ExchangeProtocol>(
    agent: &AgentHere,
    exchanges: Exchanges<'_, P>,
    asked: &ExchangesQuery,
) -> Handled<Listing<ExchangeSight>> {
    let (search, mut after) = (asked.search(), asked.after.clone());
    let connection = Some(search.connection.clone());
    let filter = ExchangeFilter {
        connection_id: connection.filter(|id| !id.is_empty()),
        ..ExchangeFilter::default()
    };
    let (mut items, mut looked) = (Vec::new(), 0_usize);
    loop {
        let limit = Some(PAGE);
        let paging = Paging { after, limit };
        let listed = exchanges.seen_among(&agent.tenant, &filter, &paging);
        let listed = listed.await?;
        looked = looked.saturating_add(PAGE);
        items.extend(listed.items.into_iter().filter(|one| search.fits(one)));
        after = listed.next;
        if after.is_none() || items.len() >= PAGE || looked >= LOOKED_AT {
            return Ok(Listing { items, next: after });
        }
    }
}

/// The exchanges with the names of their peers.
async fn named(agent: &AgentHere, sights: Vec<ExchangeSight>) -> Handled<Vec<NamedExchange>> {
    let (mut names, mut found) = (BTreeMap::new(), Vec::new());
    for sight in sights {
        let id = sight.connection_id.clone().unwrap_or_default();
        if !names.contains_key(&id) {
            names.insert(id.clone(), peer(agent, &sight).await?);
        }
        let peer = names.get(&id).cloned().flatten();
        found.push(NamedExchange { sight, peer });
    }
    Ok(found)
}

/// What the peer of an exchange is called; `None` without a connection that exists.
async fn peer(agent: &AgentHere, sight: &ExchangeSight) -> Handled<Option<String>> {
    let Some(id) = &sight.connection_id else {
        return Ok(None);
    };
    match agent.agents().connection(&agent.tenant, id).await {
        Ok(view) => Ok(Some(peer_name(&view).to_owned())),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// An issuing.
pub async fn issued(agent: AgentHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let issuing = agent.agents().issuing();
    let seen = issuing.seen(&agent.tenant, &id).await?;
    let standing = issuing.standing(&agent.tenant, &id).await?;
    let is_own = seen.sight.role == "issuer";
    let place = standing.and_then(|standing| {
        Some(IssuedAt {
            registry: standing.rev_reg_id?,
            place: standing.cred_rev_id?,
            is_own,
        })
    });
    let content = ExchangeContent {
        base: agent.base(&frame),
        kind: ExchangeKind::Issuing,
        peer: peer(&agent, &seen.sight).await?,
        seen,
        place,
    };
    shown::page(frame, "Issuing of a credential", &content)
}

/// A proof.
pub async fn proof(agent: AgentHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let seen = agent.agents().proving().seen(&agent.tenant, &id).await?;
    let content = ExchangeContent {
        base: agent.base(&frame),
        kind: ExchangeKind::Proofs,
        peer: peer(&agent, &seen.sight).await?,
        seen,
        place: None,
    };
    shown::page(frame, "Proof", &content)
}
