//! The issuer's public documents, and those that are held in memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of memory that all issuers' documents may take together. Making them again takes less than a request.
const DOCUMENTS_BYTES: usize = 1024 * 1024;

/// The documents that the issuer publishes, as JSON, encoded once.
pub struct Published {
    /// OpenID4VCI 1.0 §12.2.
    pub issuer: Arc<[u8]>,
    /// RFC 8414.
    pub server: Arc<[u8]>,
    /// SD-JWT VC §5: the key of credentials that name their issuer by URL.
    pub jwt_vc_issuer: Arc<[u8]>,
}

impl Published {
    /// Their size in memory, in bytes.
    fn bytes(&self) -> usize {
        let documents = [&self.issuer, &self.server, &self.jwt_vc_issuer];
        documents.iter().map(|document| document.len()).sum()
    }
}

/// Documents made by one issuer at one time, to tell them from all others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DocumentsId(u64);

/// The documents of the issuers that were asked for them last.
#[derive(Default)]
pub struct DocumentCache {
    held: Mutex<VecDeque<(DocumentsId, Arc<Published>)>>,
    given: AtomicU64,
}

impl DocumentCache {
    /// An identifier for documents that are made later.
    pub fn allot(&self) -> DocumentsId {
        DocumentsId(self.given.fetch_add(1, Ordering::Relaxed))
    }

    /// Holds documents, and drops those held for the longest time if all would be too large.
    pub fn hold(&self, id: DocumentsId, documents: Arc<Published>) {
        let mut held = self.held();
        held.push_back((id, documents));
        let mut bytes: usize = held.iter().map(|(_, held)| held.bytes()).sum();
        while bytes > DOCUMENTS_BYTES
            && let Some((_, oldest)) = held.pop_front()
        {
            bytes = bytes.saturating_sub(oldest.bytes());
        }
    }

    /// These documents, if they are still held.
    pub fn find(&self, id: DocumentsId) -> Option<Arc<Published>> {
        let held = self.held();
        let found = held.iter().find(|(known, _)| *known == id);
        found.map(|(_, documents)| documents.clone())
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<(DocumentsId, Arc<Published>)>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(bytes: usize) -> Arc<Published> {
        Arc::new(Published {
            issuer: vec![b' '; bytes].into(),
            server: Arc::default(),
            jwt_vc_issuer: Arc::default(),
        })
    }

    #[test]
    fn the_documents_held_last_stay_within_the_bound() {
        let cache = DocumentCache::default();
        let large = DOCUMENTS_BYTES / 2;
        let hold = |bytes| {
            let id = cache.allot();
            cache.hold(id, documents(bytes));
            id
        };
        let ids: Vec<_> = (0..3).map(|_| hold(large)).collect();
        assert!(cache.find(ids[0]).is_none());
        assert!(cache.find(ids[1]).is_some() && cache.find(ids[2]).is_some());
        let too_large = hold(DOCUMENTS_BYTES + 1);
        assert!(cache.find(too_large).is_none());
    }
}
