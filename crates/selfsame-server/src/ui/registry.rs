//! The registry's browser: checkpoint, transactions, objects with their history.

use askama::Template;
use axum::extract::{Path, State};
use selfsame_app::view::registry::{RegistryEntry, RegistryStatus};
use selfsame_app::{Error, registry::Registry};
use selfsame_did::Resolution;
use serde::Deserialize;

use super::Frame;
use super::resolver::pretty;
use crate::error::{Answer, Problem};
use crate::extract::Query;
use crate::protocol::resolver::{Asked, resolution};
use crate::server::Server;

/// Transactions on one page.
const PAGE: u64 = 50;
/// Versions shown of one object.
const VERSIONS_MAX: u64 = 100;

#[derive(Template)]
#[template(path = "registry.html")]
struct Page {
    frame: Frame,
    status: RegistryStatus,
    entries: Vec<RegistryEntry>,
    older: Option<u64>,
}

#[derive(Template)]
#[template(path = "registry_entry.html")]
struct EntryPage {
    frame: Frame,
    content: String,
    entry: RegistryEntry,
}

#[derive(Template)]
#[template(path = "registry_object.html")]
struct ObjectPage {
    frame: Frame,
    id: String,
    versions: Vec<Version>,
    resolved: String,
}

/// One version of an object.
struct Version {
    number: String,
    made: Option<String>,
    deactivated: bool,
}

/// Where to go on: transactions older than this number.
#[derive(Deserialize)]
pub struct At {
    before: Option<u64>,
}

/// Which object.
#[derive(Deserialize)]
pub struct Which {
    id: String,
}

/// The checkpoint and the newest transactions.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(At { before }): Query<At>,
) -> Answer {
    let registry = server.registry()?;
    let status = registry.status().await?;
    let last = before
        .map_or(status.transactions, |before| before.saturating_sub(1))
        .min(status.transactions);
    let first = last.saturating_sub(PAGE - 1).max(1);
    let entries = between(registry.as_ref(), first, last).await?;
    let older = (first > 1).then_some(first);
    super::html(&Page {
        frame: frame.titled("Registry"),
        status,
        entries,
        older,
    })
}

/// One transaction.
pub async fn entry(State(server): State<Server>, frame: Frame, Path(seq_no): Path<u64>) -> Answer {
    let entry = server
        .registry()?
        .entries(seq_no, 1)
        .await?
        .into_iter()
        .find(|entry| entry.seq_no == seq_no);
    let entry =
        entry.ok_or_else(|| Problem::from(Error::not_found("there is no such transaction")))?;
    let frame = frame.titled(format!("Transaction {seq_no}"));
    super::html(&EntryPage {
        frame,
        content: pretty(&entry.content),
        entry,
    })
}

/// An object and how it came to be what it is.
pub async fn object(
    State(server): State<Server>,
    frame: Frame,
    Query(Which { id }): Query<Which>,
) -> Answer {
    let id = id.trim().to_owned();
    let now = resolution(&server, &id, &Asked::default()).await;
    let newest = now
        .document_metadata
        .version_id
        .as_ref()
        .and_then(|version| version.parse().ok())
        .unwrap_or(0_u64);
    let mut versions = Vec::new();
    for number in (1..=newest)
        .rev()
        .take(usize::try_from(VERSIONS_MAX).unwrap_or(usize::MAX))
    {
        let asked = Asked {
            version_id: Some(number.to_string()),
            ..Asked::default()
        };
        versions.push(Version::of(number, &resolution(&server, &id, &asked).await));
    }
    super::html(&ObjectPage {
        frame: frame.titled("Object"),
        id,
        versions,
        resolved: pretty(&now),
    })
}

impl Version {
    fn of(number: u64, resolution: &Resolution) -> Self {
        let metadata = &resolution.document_metadata;
        let made = metadata.updated.or(metadata.created);
        Self {
            number: number.to_string(),
            made: made.map(|time| time.rfc3339()),
            deactivated: resolution.document.is_none(),
        }
    }
}

/// The transactions from `first` to `last`, the newest first.
async fn between(registry: &dyn Registry, first: u64, last: u64) -> Answer<Vec<RegistryEntry>> {
    if last == 0 {
        return Ok(Vec::new());
    }
    let count = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
    let mut entries = registry.entries(first, count).await?;
    entries.reverse();
    Ok(entries)
}
