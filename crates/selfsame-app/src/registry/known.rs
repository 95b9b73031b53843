//! What DIDs resolve to as of the last block, so that a document is read from the ledger once a block and not each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_did::{Did, Resolution, ResolutionError};

/// Documents remembered at most.
const KNOWN_MAX: usize = 1_024;

/// The documents; clones share them.
#[derive(Clone, Default)]
pub(super) struct Known(Arc<Mutex<Block>>);

#[derive(Default)]
struct Block {
    /// Counts the blocks since the start.
    number: u64,
    documents: HashMap<Did, Resolution>,
}

impl Known {
    /// Forgets all: a block was stored. Called before anybody is told of it.
    pub(super) fn forget(&self) {
        let mut block = self.block();
        block.number += 1;
        block.documents.clear();
    }

    /// What is known, or what `read` says; that is kept unless a block was stored meanwhile.
    pub(super) fn or_read(&self, did: &Did, read: impl FnOnce() -> Resolution) -> Resolution {
        let number = {
            let block = self.block();
            if let Some(known) = block.documents.get(did) {
                return known.clone();
            }
            block.number
        };
        let resolution = read();
        let passing = resolution.metadata.error == Some(ResolutionError::InternalError);
        let mut block = self.block();
        if block.number == number && !passing {
            if block.documents.len() >= KNOWN_MAX {
                block.documents.clear();
            }
            // Its keys are made once, here, and not by each of its readers.
            if let Some(document) = &resolution.document {
                document
                    .methods()
                    .for_each(|method| drop(method.public_key()));
            }
            block.documents.insert(did.clone(), resolution.clone());
        }
        resolution
    }

    fn block(&self) -> MutexGuard<'_, Block> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
