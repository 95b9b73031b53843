//! Blocks: the newest first, and one with its transactions.

use askama::Template;
use selfsame_ledger::view::RegistryEntry;
use selfsame_ledger::view::browse::BlockView;

use crate::Frame;

/// The list of blocks.
#[derive(Template)]
#[template(path = "registry_blocks.html")]
pub struct BlocksPage {
    frame: Frame,
    blocks: Vec<BlockView>,
    next: Option<u64>,
}

impl BlocksPage {
    /// The page with these blocks, the newest first. It leads to older ones, down to the first block.
    pub fn of(frame: Frame, blocks: Vec<BlockView>) -> Self {
        let last = blocks.last().map(|block| block.height);
        Self {
            frame: frame.titled("Blocks"),
            next: last.filter(|height| *height > 1),
            blocks,
        }
    }
}

/// One block with its transactions.
#[derive(Template)]
#[template(path = "registry_block.html")]
pub struct BlockPage {
    /// What stands around it.
    pub frame: Frame,
    /// The block.
    pub block: BlockView,
    /// Its first transactions.
    pub entries: Vec<RegistryEntry>,
}
