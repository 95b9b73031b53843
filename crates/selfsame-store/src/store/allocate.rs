//! Counters: numbers are handed out from memory, in blocks whose end is durable before.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::Store;
use crate::backend::Write;
use crate::error::{Result, StoreError};
use crate::tenant::TenantId;

/// The block size. A crash leaves the rest of a block as a gap.
const BLOCK: u64 = 1_024;
const MAX_COUNT: u64 = 1 << 32;
/// The maximum number of open blocks. Beyond it all are dropped, which leaves gaps.
const MAX_OPEN: usize = 2_048;

type CounterBlock = Arc<tokio::sync::Mutex<Range<u64>>>;

/// The open blocks.
#[derive(Default)]
pub(super) struct Counters(Mutex<HashMap<(TenantId, String), CounterBlock>>);

impl Counters {
    fn block(&self, tenant: &TenantId, counter: &str) -> CounterBlock {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tenant.clone(), counter.to_owned());
        if open.len() >= MAX_OPEN && !open.contains_key(&key) {
            open.clear();
        }
        open.entry(key)
            .or_insert_with(|| Arc::new(tokio::sync::Mutex::new(0..0)))
            .clone()
    }
}

impl Store {
    /// Numbers that are never handed out twice, even after a crash. There may be gaps.
    pub async fn allocate(
        &self,
        tenant: &TenantId,
        counter: &str,
        count: u64,
    ) -> Result<Range<u64>> {
        if count > MAX_COUNT {
            return Err(StoreError::TooLarge {
                what: "allocation",
                limit: MAX_COUNT as usize,
            });
        }
        let block = self.0.counters.block(tenant, counter);
        let mut block = block.lock().await;
        if block.end - block.start < count {
            // If the new block begins where the old one ends, nothing is lost.
            let reserved = reserve(self, tenant, counter, count.max(BLOCK)).await?;
            if reserved.start == block.end && !block.is_empty() {
                block.end = reserved.end;
            } else {
                *block = reserved;
            }
        }
        let start = block.start;
        block.start += count;
        Ok(start..block.start)
    }
}

async fn reserve(
    store: &Store,
    tenant: &TenantId,
    counter: &str,
    count: u64,
) -> Result<Range<u64>> {
    let writes = vec![Write::Reserve(tenant.clone(), counter.to_owned(), count)];
    let batch = store.durable(writes);
    let mut outcome = store.write(batch).await?;
    outcome
        .reserved
        .pop()
        .ok_or(StoreError::Storage("no numbers were reserved".to_owned()))
}
