//! Caches of what verification has fetched.

mod room;

use std::sync::Arc;

use selfsame_credential::evidence::Genuine;
use selfsame_credential::status;
use selfsame_crypto::time::UnixTime;
use selfsame_net::{Cache, CacheSettings};

use room::{KEPT_BYTES, ListRoom, Unread};

/// The most lists, and the most issuers' metadata, that are kept.
const CAPACITY: usize = 4_096;
/// Bytes of memory that all issuers' metadata may take together.
const METADATA_BYTES: usize = 8 * 1024 * 1024;

/// How recent a cached document must be.
#[derive(Clone, Copy)]
pub struct Recency {
    /// The time of the request.
    pub now: UnixTime,
    /// What was fetched then or before is fetched again.
    pub outdated: Option<UnixTime>,
}

impl Recency {
    /// As recent as the cache has it.
    pub const fn any(now: UnixTime) -> Self {
        let outdated = None;
        Self { now, outdated }
    }
}

/// The caches of what verification fetches.
pub(crate) struct Fetches {
    pub(crate) lists: Cache<String, Result<Arc<status::List>, Unread>>,
    pub(crate) room: ListRoom,
    pub(crate) metadata: Cache<String, Vec<u8>>,
    pub(crate) genuine: Genuine,
}

impl Default for Fetches {
    fn default() -> Self {
        Self {
            // Each verification's policy decides how long a list may be used; here it only must not stay for ever.
            lists: Cache::new(
                CacheSettings {
                    capacity: CAPACITY,
                    max_bytes: KEPT_BYTES,
                    ttl: 3600,
                    negative_ttl: 2,
                },
                |list| list.as_ref().map_or(0, |list| list.weight()),
            ),
            metadata: Cache::new(
                CacheSettings {
                    capacity: CAPACITY,
                    max_bytes: METADATA_BYTES,
                    ttl: 60,
                    negative_ttl: 5,
                },
                Vec::len,
            ),
            genuine: Genuine::default(),
            room: ListRoom::default(),
        }
    }
}
