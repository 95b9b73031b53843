//! The size of the writer's page cache.

use rusqlite::Connection;

use crate::error::Result;

/// The size in KiB. A commit that splits a page looks at the whole cache, so a larger one makes small commits slower.
const SMALL_KIB: i64 = 4_096;
/// A transaction of more pages is part of a load, which finds more of the pages it needs in a larger cache.
const LOAD_PAGES: usize = 1_024;
/// The size during a load, in KiB.
const LOAD_KIB: i64 = 16_384;
/// How many changed pages a transaction keeps in memory at most: 64 MiB. With as many as the cache has, a large
/// transaction writes some of them to the log several times.
const SPILL_PAGES: i64 = 16_384;

/// Gives a writer's connection its page cache.
pub(crate) fn set_up(writer: &Connection) -> Result<()> {
    writer.pragma_update(None, "cache_size", -SMALL_KIB)?;
    writer.pragma_update(None, "cache_spill", SPILL_PAGES)?;
    Ok(())
}

/// Whether the cache has the size for a load.
#[derive(Default)]
pub(super) struct PageCache {
    loads: bool,
}

impl PageCache {
    /// Gives the cache the size for a transaction of this many pages.
    pub(super) fn size_for(&mut self, pages: usize, writer: &Connection) -> Result<()> {
        let loads = pages > LOAD_PAGES;
        if self.loads != loads {
            let size = if loads { LOAD_KIB } else { SMALL_KIB };
            writer.pragma_update(None, "cache_size", -size)?;
            self.loads = loads;
        }
        Ok(())
    }
}
