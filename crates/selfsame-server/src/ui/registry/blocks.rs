//! Blocks: the newest first, and one with its transactions.

use axum::extract::State;
use selfsame_pages::registry::blocks::{BlockPage, BlocksPage};
use serde::Deserialize;

use crate::error::Handled;
use crate::extract::{Path, Query};
use crate::server::Server;
use crate::ui::{self, Frame};

const ON_PAGE: u64 = 50;

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
    let blocks = server.browser()?.blocks(before, ON_PAGE)?;
    ui::html(&BlocksPage::of(frame, blocks))
}

/// One block.
pub async fn block(State(server): State<Server>, frame: Frame, Path(height): Path<u64>) -> Handled {
    let (block, entries) = server.browser()?.block(height)?;
    ui::html(&BlockPage {
        frame: frame.titled(format!("Block {height}")),
        block,
        entries,
    })
}
