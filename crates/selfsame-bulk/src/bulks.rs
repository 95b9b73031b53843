//! What controllers do with orders.

use std::sync::Arc;

use selfsame_agent::Agents;
use selfsame_core::Shared;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Page, Put, StoreError, TenantId};
use tokio::sync::Notify;

use crate::check::check;
use crate::order::{
    BulkState, CHUNK, CHUNK_ROWS, NewBulk, NotedOrder, ORDER, OrderRecord, RUNNING, RowChunk,
    chunk_id, running_id,
};
use crate::view::{BulkRowView, BulkView, RowState};

/// The chunks of an order that one commit writes.
const CHUNKS_AT_ONCE: usize = 50;

/// The most orders of a tenant that are not ended.
const RUNNING_MAX: usize = 10;
/// How many of the newest orders are looked at to count those.
const LOOKED_AT: usize = 100;

/// The orders of one process. Clones are the same.
#[derive(Clone)]
pub struct Bulks {
    pub(crate) agents: Agents,
    /// Wakes the worker of this process.
    pub(crate) given: Arc<Notify>,
}

/// Which rows of an order are shown.
#[derive(Clone, Copy, Debug)]
pub struct BulkRows {
    /// Those with this result; all without it.
    pub state: Option<RowState>,
    /// The number of rows at the beginning that are left out.
    pub offset: usize,
    /// How many are shown at most.
    pub limit: usize,
}

impl Bulks {
    /// The orders of these agents. [`Bulks::work`] works on them.
    #[must_use]
    pub fn new(agents: Agents) -> Self {
        Self {
            agents,
            given: Arc::default(),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.agents.anoncreds().shared()
    }

    /// Takes an order, and begins to work on it.
    ///
    /// # Errors
    /// `BadRequest` with the rows that are wrong; the store's.
    pub async fn give(&self, tenant: &TenantId, new: NewBulk) -> Result<BulkView> {
        check(&self.agents, tenant, &new).await?;
        self.check_others(tenant).await?;
        let shared = self.shared();
        let ctx = shared.clock.ctx();
        let id = selfsame_aries::wire::fresh_id("bulk", &ctx);
        let order = OrderRecord::new(&new, &ctx);
        let chunks: Vec<&[_]> = new.rows.chunks(CHUNK_ROWS).collect();
        for (first, some) in (0..)
            .step_by(CHUNKS_AT_ONCE)
            .zip(chunks.chunks(CHUNKS_AT_ONCE))
        {
            let mut batch = Batch::new(tenant.clone());
            for (number, rows) in (first..).zip(some) {
                let chunk = RowChunk {
                    rows: rows.to_vec(),
                    results: Vec::new(),
                };
                batch = batch.put(chunk.put(&chunk_id(&id, number), order.kept_until())?);
            }
            shared.store.commit(batch).await?;
        }
        // Without the order its chunks cannot be found, and they expire.
        let batch = Batch::new(tenant.clone())
            .expect(ORDER, &id, Expect::Absent)
            .put(order.put(&id)?)
            .for_tenant(TenantId::instance())
            .put(Put::new(RUNNING, running_id(tenant, &id), Vec::new()));
        shared.store.commit(batch).await?;
        self.given.notify_one();
        Ok(BulkView::of(&id, &order))
    }

    /// Refuses an order of a tenant that has enough others.
    async fn check_others(&self, tenant: &TenantId) -> Result<()> {
        let store = &self.shared().store;
        let newest = store.list(tenant, ORDER, &Page::newest(LOOKED_AT)).await?;
        let mut running = 0;
        for read in newest {
            let order: OrderRecord = decode(&read.value)?;
            running += usize::from(order.state == BulkState::Running);
        }
        match running < RUNNING_MAX {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Conflict, "bulk-many").with("most", &RUNNING_MAX)),
        }
    }

    /// An order.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn one(&self, tenant: &TenantId, id: &str) -> Result<BulkView> {
        Ok(BulkView::of(id, &self.order(tenant, id).await?))
    }

    /// The orders, newest first.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn list(&self, tenant: &TenantId, paging: &Paging) -> Result<Listing<BulkView>> {
        let store = &self.shared().store;
        let found = store.list(tenant, ORDER, &page(paging)).await?;
        listing(&found, paging, |stored| {
            Ok(BulkView::of(&stored.id, &decode(&stored.value)?))
        })
    }

    /// The rows of an order with their results, in their order.
    ///
    /// # Errors
    /// `NotFound` if there is no such order; the store's.
    pub async fn rows(
        &self,
        tenant: &TenantId,
        id: &str,
        asked: BulkRows,
    ) -> Result<Vec<BulkRowView>> {
        let order = self.order(tenant, id).await?;
        let store = &self.shared().store;
        let (mut found, mut left_out) = (Vec::new(), 0);
        for number in 0..order.chunks() {
            let read = store.read(tenant, CHUNK, &chunk_id(id, number)).await?;
            let Some(read) = read else { continue };
            let chunk: RowChunk = decode(&read.value)?;
            for (at, row) in chunk.rows.iter().enumerate() {
                let view =
                    BulkRowView::of(number * CHUNK_ROWS + at + 1, row, chunk.results.get(at));
                if asked.state.is_some_and(|state| state != view.state) {
                    continue;
                }
                if left_out < asked.offset {
                    left_out += 1;
                    continue;
                }
                if found.len() >= asked.limit {
                    return Ok(found);
                }
                found.push(view);
            }
        }
        Ok(found)
    }

    /// Ends an order: no further row is begun. What was offered stands.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if it has ended.
    pub async fn cancel(&self, tenant: &TenantId, id: &str) -> Result<BulkView> {
        let shared = self.shared();
        loop {
            let read = shared.store.read(tenant, ORDER, id).await?;
            let read = read.ok_or_else(absent)?;
            let mut order: OrderRecord = decode(&read.value)?;
            if order.state != BulkState::Running {
                return Err(Error::new(ErrorKind::Conflict, "bulk-ended"));
            }
            order.state = BulkState::Cancelled;
            order.ended = Some(shared.clock.now());
            let noted = NotedOrder {
                tenant: tenant.clone(),
                id: id.to_owned(),
            };
            let batch = Batch::new(tenant.clone()).update(ORDER, &read, encode(&order)?);
            match shared.store.commit(noted.forgotten(batch)).await {
                Ok(_) => return Ok(BulkView::of(id, &order)),
                // A chunk was written in between.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn order(&self, tenant: &TenantId, id: &str) -> Result<OrderRecord> {
        let read = self.shared().store.read(tenant, ORDER, id).await?;
        decode(&read.ok_or_else(absent)?.value)
    }
}

pub(crate) fn absent() -> Error {
    Error::not_found("bulk-absent")
}
