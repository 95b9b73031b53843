//! Blocks: the newest first, and one with its transactions.

use askama::Template;
use axum::extract::State;
use selfsame_ledger::browse::Browser;
use selfsame_ledger::view::RegistryEntry;
use selfsame_ledger::view::browse::BlockView;
use serde::Deserialize;

use super::Frame;
use crate::error::Handled;
use crate::extract::{Path, Query};
use crate::server::Server;

const ON_PAGE: u64 = 50;

#[derive(Template)]
#[template(path = "registry_blocks.html")]
struct BlocksPage {
    frame: Frame,
    part: &'static str,
    blocks: Vec<BlockView>,
    next: Option<u64>,
}

#[derive(Template)]
#[template(path = "registry_block.html")]
struct BlockPage {
    frame: Frame,
    block: BlockView,
    entries: Vec<RegistryEntry>,
}

/// Where the list continues.
#[derive(Deserialize)]
pub struct Below {
    before: Option<u64>,
}

/// The list.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(Below { before }): Query<Below>,
) -> Handled {
    let blocks = Browser::of(&**server.registry()?)?.blocks(before, ON_PAGE)?;
    let next = blocks.last().map(|block| block.height);
    super::super::html(&BlocksPage {
        frame: frame.titled("Blocks"),
        part: "blocks",
        blocks,
        next: next.filter(|height| *height > 1),
    })
}

/// One block.
pub async fn block(State(server): State<Server>, frame: Frame, Path(height): Path<u64>) -> Handled {
    let (block, entries) = Browser::of(&**server.registry()?)?.block(height)?;
    super::super::html(&BlockPage {
        frame: frame.titled(format!("Block {height}")),
        block,
        entries,
    })
}
