//! The registry's browser: blocks, transactions, searches, objects with their history, validators; all with proofs.

pub mod blocks;
pub mod object;
pub mod register;
pub mod search;
pub mod transaction;
pub mod validators;

use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse as _, Redirect, Response};
use futures_util::{StreamExt as _, stream};
use http::Uri;
use selfsame_driver::paging::Paging;
use selfsame_ledger::Registry;
use selfsame_ledger::browse::Browser;
use selfsame_ledger::config::RegistryConfig;
use selfsame_pages::registry::RegistryPage;
use serde_json::json;

use super::{Frame, ListPosition};
use crate::error::{Handled, Problem};
use crate::extract::Query;
use crate::server::Server;
use crate::stream::respond;

/// Interval at which the head is checked for pages that follow it.
const LOOKED_AT: std::time::Duration = std::time::Duration::from_secs(1);
/// Number of blocks in the picture.
const PICTURED: u64 = 30;
/// Transactions per page.
const ON_PAGE: usize = 25;

/// The head, the newest blocks, and the transactions, newest first.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(at): Query<ListPosition>,
) -> Handled {
    let mut paging = Paging::from(at);
    paging.limit = Some(paging.limit.unwrap_or(ON_PAGE));
    super::html(&overview(&**server.registry()?, frame, paging).await?)
}

async fn overview(
    registry: &dyn Registry,
    frame: Frame,
    mut paging: Paging,
) -> Handled<RegistryPage> {
    let browser = Browser::of(registry)?;
    let (height, transactions) = browser.head()?;
    let live = paging.cursor().is_none();
    // Also shows transactions that are stored but not yet in a signed checkpoint.
    let newest = live.then(|| transactions.saturating_add(1).to_string());
    paging.after = newest.or(paging.after);
    let listed = registry.recent(&paging).await?;
    Ok(RegistryPage {
        frame: frame.titled("Registry"),
        name: browser.name().to_owned(),
        network: registry.network().await?.to_string(),
        // A network with too few signatures for a checkpoint can still be browsed.
        status: registry.status().await.ok(),
        validators: browser.validators().await?,
        blocks: browser.blocks(None, PICTURED)?,
        entries: listed.items,
        next: listed.next,
        height,
        transactions,
        live,
    })
}

/// Server-sent events: height and number of transactions whenever they change.
pub async fn events(State(server): State<Server>) -> Handled {
    let registry = server.registry()?.clone();
    Browser::of(&*registry)?;
    let ticks = tokio::time::interval(LOOKED_AT);
    let changes = stream::unfold((ticks, None), move |(mut ticks, mut seen)| {
        let registry = registry.clone();
        async move {
            loop {
                ticks.tick().await;
                let head = Browser::of(&*registry).and_then(|browser| browser.head());
                let head = head.ok()?;
                if seen.replace(head) != Some(head) {
                    let (height, transactions) = head;
                    return Some((told(height, transactions), (ticks, seen)));
                }
            }
        }
    });
    Ok(respond(
        server.stopped(),
        changes.filter_map(std::future::ready),
    ))
}

fn told(height: u64, transactions: u64) -> Option<Event> {
    let head = json!({ "height": height, "transactions": transactions });
    Event::default().event("head").json_data(head).ok()
}

/// Redirects to the pages of the process that runs the registry.
pub async fn elsewhere(State(server): State<Server>, asked: Uri) -> Handled<Response> {
    let nodes = match &server.app().config().registry {
        RegistryConfig::Remote { nodes, .. } => nodes.as_slice(),
        RegistryConfig::Embedded { .. } | RegistryConfig::None => &[],
    };
    let Some(first) = nodes.first() else {
        return Err(Problem::new(
            http::StatusCode::NOT_FOUND,
            "registry-page-absent",
        ));
    };
    let path = asked.path_and_query().map_or("/", |path| path.as_str());
    let there = first.origin.as_str().trim_end_matches('/');
    Ok(Redirect::temporary(&format!("{there}{path}")).into_response())
}
