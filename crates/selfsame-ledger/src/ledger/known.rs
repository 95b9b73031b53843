//! A cache of resolved DIDs as of the last block: a document is read from the ledger once a block and not each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_did::{Did, Resolution, ResolutionError};

/// Maximum number of cached documents.
const KNOWN_MAX: usize = 1_024;

/// The cached documents. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct CachedDocuments(Arc<Mutex<CachedBlock>>);

#[derive(Default)]
struct CachedBlock {
    /// The number of blocks since the start.
    number: u64,
    documents: HashMap<Did, Resolution>,
}

impl CachedDocuments {
    /// Empties the cache after a block was stored, before the block's senders get an answer.
    pub(crate) fn forget(&self) {
        let mut block = self.block();
        block.number += 1;
        block.documents.clear();
    }

    /// The cached resolution, or that of `read`, which is cached unless a block was stored meanwhile.
    pub(crate) fn or_read(&self, did: &Did, read: impl FnOnce() -> Resolution) -> Resolution {
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
            // Its keys are parsed once, here, and not by each of its readers.
            if let Some(document) = &resolution.document {
                document
                    .methods()
                    .for_each(|method| drop(method.public_key()));
            }
            block.documents.insert(did.clone(), resolution.clone());
        }
        resolution
    }

    fn block(&self) -> MutexGuard<'_, CachedBlock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
