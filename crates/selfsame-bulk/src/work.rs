//! The work on orders: which process works on one, how many rows are under way at once, and what comes of each.

mod row;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use selfsame_core::events::{Event, EventKind};
use selfsame_core::notice::Told;
use selfsame_driver::Result;
use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::turn::{Shift, WorkTurn};
use selfsame_store::{Batch, StoreError, TenantId};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::bulks::Bulks;
use crate::order::{
    BulkState, CHUNK, CHUNK_ROWS, NotedOrder, ORDER, OrderRecord, RUNNING, RowChunk, TURN,
    chunk_id, noted,
};
use crate::view::BulkView;
use row::RowWork;

/// How often a process looks for orders that others were given, or left.
const LOOKED_EVERY: Duration = Duration::from_secs(2);
/// The most orders that a process works on at once.
const ORDERS_AT_ONCE: usize = 4;
/// The most rows of an order that are under way.
const ROWS_AT_ONCE: usize = 64;
/// The chunks that these rows may be of: the slow rows of one do not hold up the next.
const CHUNKS_AT_ONCE: usize = 4;
/// How often the turn at an order is kept, and its state looked at.
const KEPT_EVERY: Duration = Duration::from_secs(1);
/// How long the stop waits for the work to end.
const ENDED_WITHIN: Duration = Duration::from_secs(2);
/// The topic of the notice that an order has ended.
const TOPIC: &str = "bulk_issuance";

impl Bulks {
    /// Works on the orders of all tenants until the instance stops.
    pub async fn work(self, mut stopping: watch::Receiver<bool>) {
        let process = self.shared().clock.ctx().token("bulk/process");
        let (mut tasks, mut running) = (JoinSet::new(), HashSet::new());
        while !*stopping.borrow() {
            let orders = self.noted().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "orders of bulk issuance can't be read");
                Vec::new()
            });
            for at in orders {
                if running.len() < ORDERS_AT_ONCE && running.insert(at.clone()) {
                    let work = OrderWork::of(&self, at, stopping.clone());
                    tasks.spawn(work.run(process.clone()));
                }
            }
            tokio::select! {
                _ = stopping.changed() => break,
                () = self.given.notified() => {}
                Some(ended) = tasks.join_next() => {
                    match ended {
                        Ok(at) => drop(running.remove(&at)),
                        Err(error) => {
                            tracing::error!(%error, "the work on an order panicked");
                            running.clear();
                        }
                    }
                    // An order that can't be worked on now is tried again, not at once.
                    sleep(KEPT_EVERY).await;
                }
                () = sleep(LOOKED_EVERY) => {}
            }
        }
        // Each gives its turn back, so that another process goes on at once.
        let ended = async { while tasks.join_next().await.is_some() {} };
        drop(timeout(ENDED_WITHIN, ended).await);
    }

    /// The orders that are not ended.
    async fn noted(&self) -> Result<Vec<NotedOrder>> {
        let store = &self.shared().store;
        let instance = TenantId::instance();
        let found = all(store, &instance, RUNNING, |note| Ok(noted(&note.id)));
        Ok(found.await?.into_iter().flatten().collect())
    }
}

/// The work on one order.
struct OrderWork {
    bulks: Bulks,
    at: NotedOrder,
    stopping: watch::Receiver<bool>,
    places: Arc<Semaphore>,
}

impl OrderWork {
    fn of(bulks: &Bulks, at: NotedOrder, stopping: watch::Receiver<bool>) -> Self {
        Self {
            bulks: bulks.clone(),
            at,
            stopping,
            places: Arc::new(Semaphore::new(ROWS_AT_ONCE)),
        }
    }

    /// Works while this process has the turn.
    async fn run(self, process: String) -> NotedOrder {
        let mut turn = WorkTurn::of(TURN, &self.at.id, &process);
        if let Err(error) = self.worked(&mut turn).await {
            tracing::warn!(order = self.at.id, %error, "an order of bulk issuance waits");
        }
        turn.release(self.shift()).await;
        self.at
    }

    async fn worked(&self, turn: &mut WorkTurn) -> Result<()> {
        if !self.is_ours(turn).await? {
            return Ok(());
        }
        let Some(order) = self.order().await? else {
            return self.forget().await;
        };
        if order.state != BulkState::Running {
            return self.forget().await;
        }
        let mut stopping = self.stopping.clone();
        let mut numbers = (order.next_chunk..order.chunks()).filter(|n| !order.ahead.contains(n));
        let mut chunks = FuturesUnordered::new();
        loop {
            while chunks.len() < CHUNKS_AT_ONCE
                && let Some(number) = numbers.next()
            {
                chunks.push(self.chunk(number, &order));
            }
            tokio::select! {
                ended = chunks.next() => match ended {
                    Some(ended) => ended?,
                    None => return Ok(()),
                },
                () = sleep(KEPT_EVERY) => {
                    let is_running = self.order().await?;
                    let is_running = is_running.is_some_and(|one| one.state == BulkState::Running);
                    if !is_running || !self.is_ours(turn).await? {
                        return Ok(());
                    }
                }
                _ = stopping.changed() => return Ok(()),
            }
        }
    }

    async fn is_ours(&self, turn: &mut WorkTurn) -> Result<bool> {
        turn.hold(self.shift()).await
    }

    fn shift(&self) -> Shift<'_> {
        let shared = self.bulks.shared();
        Shift {
            store: &shared.store,
            clock: &shared.clock,
            owner: &self.at.tenant,
        }
    }

    async fn order(&self) -> Result<Option<OrderRecord>> {
        let store = &self.bulks.shared().store;
        let read = store.read(&self.at.tenant, ORDER, &self.at.id).await?;
        read.map(|read| decode(&read.value)).transpose()
    }

    /// Removes the note about an order that is over or gone.
    async fn forget(&self) -> Result<()> {
        let batch = self.at.forgotten(Batch::new(self.at.tenant.clone()));
        self.bulks.shared().store.commit(batch).await?;
        Ok(())
    }

    /// Issues the credentials of a chunk, and writes their results.
    async fn chunk(&self, number: usize, order: &OrderRecord) -> Result<()> {
        let (store, tenant) = (&self.bulks.shared().store, &self.at.tenant);
        let id = chunk_id(&self.at.id, number);
        let read = store.read(tenant, CHUNK, &id).await?;
        let read = read.ok_or_else(crate::bulks::absent)?;
        let mut chunk: RowChunk = decode(&read.value)?;
        let rows = chunk.rows.iter().enumerate().map(async |(at, row)| {
            let _place = self.places.acquire().await;
            let work = RowWork {
                agents: &self.bulks.agents,
                tenant,
                order,
                row,
                number: number * CHUNK_ROWS + at,
            };
            work.result().await
        });
        chunk.results = try_join_all(rows).await?;
        let batch = Batch::new(tenant.clone()).update(CHUNK, &read, encode(&chunk)?);
        let issuing = self.bulks.agents.issuing();
        let spent = chunk.results.iter().filter_map(|result| result.spent());
        let batch = match order.keep_records {
            true => batch,
            false => spent.fold(batch, |batch, id| issuing.removing(batch, id)),
        };
        self.count(number, &chunk, batch).await
    }

    /// Counts the results of a chunk in one commit with them. With those of the last one the order ends.
    async fn count(&self, number: usize, chunk: &RowChunk, batch: Batch) -> Result<()> {
        let (shared, at) = (self.bulks.shared(), &self.at);
        loop {
            let read = shared.store.read(&at.tenant, ORDER, &at.id).await?;
            let read = read.ok_or_else(crate::bulks::absent)?;
            let mut order: OrderRecord = decode(&read.value)?;
            order.count(number, chunk);
            let is_last = order.known() == order.total && order.state == BulkState::Running;
            if is_last {
                order.state = BulkState::Done;
                order.ended = Some(shared.clock.now());
            }
            let mut batch = batch.clone().update(ORDER, &read, encode(&order)?);
            let mut events = Vec::new();
            if is_last {
                let notice = format!("{}.ended", at.id);
                let told = Told::new(TOPIC, &BulkView::of(&at.id, &order));
                batch = at.forgotten(batch.put(told.put(&notice, shared.clock.now())?));
                events.push(Event::new(EventKind::AgentNotice, notice));
            }
            match shared.events.commit_all(batch, &events).await {
                Ok(_) => return Ok(()),
                // Another chunk was written in between, or the order was cancelled.
                Err(StoreError::Conflict { kind, .. }) if kind == ORDER => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
