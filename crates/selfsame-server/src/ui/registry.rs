//! The registry's browser: checkpoint, transactions, objects with their history.

use askama::Template;
use axum::extract::{Path, State};
use selfsame_app::view::Paging;
use selfsame_app::view::registry::{RegistryEntry, RegistryStatus};
use selfsame_did::{Did, Options};
use serde::Deserialize;

use super::Frame;
use super::resolver::pretty;
use crate::api::registry::no_did;
use crate::error::Answer;
use crate::extract::Query;
use crate::server::Server;

#[derive(Template)]
#[template(path = "registry.html")]
struct Page {
    frame: Frame,
    status: RegistryStatus,
    entries: Vec<RegistryEntry>,
    next: Option<String>,
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
    history: Vec<RegistryEntry>,
    resolved: String,
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
    Query(paging): Query<Paging>,
) -> Answer {
    let registry = server.registry()?;
    let status = registry.status().await?;
    let listed = registry.recent(&paging).await?;
    super::html(&Page {
        frame: frame.titled("Registry"),
        status,
        entries: listed.items,
        next: listed.next,
    })
}

/// One transaction.
pub async fn entry(State(server): State<Server>, frame: Frame, Path(seq_no): Path<u64>) -> Answer {
    let entry = server.registry()?.entry(seq_no).await?;
    super::html(&EntryPage {
        frame: frame.titled(format!("Transaction {seq_no}")),
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
    let did = id.trim().parse::<Did>().map_err(|_| no_did())?;
    let mut history = server.registry()?.history(&did).await?;
    history.reverse();
    let resolved = server.app().resolve(&did, &Options::default()).await;
    super::html(&ObjectPage {
        frame: frame.titled("Object"),
        id: did.as_str().to_owned(),
        history,
        resolved: pretty(resolved.as_ref()),
    })
}
