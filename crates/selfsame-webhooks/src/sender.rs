//! Sends the deliveries of one endpoint: in order per subject, several subjects at once, the answers of many in one
//! commit. An endpoint that is slow or away delays no other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_core::Shared;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::encode;
use selfsame_driver::turn::{Shift, WorkTurn};
use selfsame_driver::{Reason, Result};
use selfsame_net::{Authorization, Body, Call, CallHeader, CallLimits, Method, Request};
use selfsame_store::{Batch, Expect, StoreError};
use selfsame_traces::{Attribute, SpanEnd};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::controller::ToController;
use crate::delivery::DeliveryState;
use crate::endpoint::{Endpoint, EndpointForm};
use crate::patience::{Attempted, endpoint_pause};
use crate::records::{self, DELIVERY, ENDPOINT, EndpointAt, TURN};
use crate::signature::SignedMessage;
use crate::window::{Pending, Window};

/// Messages sent to one endpoint at once.
const AT_ONCE: usize = 32;
/// How long an attempt may take.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The longest body of an answer, in bytes. It is not kept.
const ANSWER_MAX: usize = 64 * 1024;
/// The longest sleep of a sender that waits. Tests move the clock, and do not wait as long.
const LOOKED_EVERY: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 1_000 });
/// Seconds after which the deliveries are read from the oldest on again: one may have been sent again by the operator.
const REREAD_SECONDS: u64 = 10;
/// Failures in a row after which a success makes everything due that waits.
const OUTAGE: u32 = 3;

/// The senders of this process: one for each endpoint that has something to send.
pub(crate) struct Senders {
    shared: Arc<Shared>,
    /// Names this process in the records of turns.
    process: String,
    running: Mutex<HashMap<EndpointAt, Arc<Notify>>>,
    stopping: watch::Receiver<bool>,
}

impl Senders {
    pub fn new(shared: Arc<Shared>, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let process = shared.clock.ctx().token("webhook/process");
        Arc::new(Self {
            shared,
            process,
            running: Mutex::default(),
            stopping,
        })
    }

    /// Wakes the sender of an endpoint, because a delivery waits. Starts the sender if it does not run.
    pub fn wake(self: &Arc<Self>, at: &EndpointAt) {
        let mut running = self.running();
        if let Some(sender) = running.get(at) {
            sender.notify_one();
            return;
        }
        let woken = Arc::new(Notify::new());
        running.insert(at.clone(), woken.clone());
        drop(running);
        tokio::spawn(self.clone().run(at.clone(), woken));
    }

    fn running(&self) -> MutexGuard<'_, HashMap<EndpointAt, Arc<Notify>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(self: Arc<Self>, at: EndpointAt, woken: Arc<Notify>) {
        let mut sender = Sender {
            turn: WorkTurn::of(TURN, &at.id, &self.process),
            senders: self.clone(),
            at: at.clone(),
            window: Window::default(),
            attempts: JoinSet::new(),
            read_to: None,
            reread: UnixTime(0),
            failures: 0,
            paused_until: UnixTime(0),
        };
        while !*self.stopping.borrow() {
            match sender.work().await {
                Ok(true) => break,
                Ok(false) => sender.wait(&woken).await,
                Err(error) => {
                    tracing::warn!(endpoint = at.id, %error, "a webhook can't be worked on");
                    sleep(LOOKED_EVERY).await;
                }
            }
        }
        sender.end().await;
        self.running().remove(&at);
        // Something may have come after the last look.
        let rest = records::pending_after(&self.shared.store, &at, None, 1).await;
        let is_left = rest.is_ok_and(|rest| !rest.is_empty());
        let is_enabled = records::endpoint(&self.shared.store, &at).await;
        let is_enabled = is_enabled
            .is_ok_and(|found| found.is_some_and(|found| found.endpoint.disabled.is_none()));
        if is_left && is_enabled && !*self.stopping.borrow() {
            self.wake(&at);
        }
    }
}

/// The sender of one endpoint.
struct Sender {
    senders: Arc<Senders>,
    at: EndpointAt,
    turn: WorkTurn,
    window: Window,
    attempts: JoinSet<EndedAttempt>,
    /// The last delivery that was read.
    read_to: Option<u64>,
    /// When the deliveries are read from the oldest on again.
    reread: UnixTime,
    /// Failures of the endpoint in a row.
    failures: u32,
    /// Nothing is sent until then.
    paused_until: UnixTime,
}

/// An attempt that has ended.
struct EndedAttempt {
    pending: Pending,
    attempted: Attempted,
}

impl Sender {
    fn shared(&self) -> &Arc<Shared> {
        &self.senders.shared
    }

    /// Sends what is due. True if there is nothing left to send.
    async fn work(&mut self) -> Result<bool> {
        let now = self.shared().clock.now();
        let found = records::endpoint(&self.shared().store, &self.at).await?;
        let Some(found) = found.filter(|found| found.endpoint.disabled.is_none()) else {
            return Ok(self.attempts.is_empty());
        };
        let shared = self.shared().clone();
        if !self.turn.hold(shift(&shared, &self.at)).await? {
            self.window = Window::default();
            self.read_to = None;
            let waiting = records::pending_after(&shared.store, &self.at, None, 1).await?;
            return Ok(waiting.is_empty() && self.attempts.is_empty());
        }
        self.read_on(now).await?;
        if self.window.is_empty() && self.attempts.is_empty() {
            return Ok(true);
        }
        self.launch(&Arc::new(found.endpoint), now);
        Ok(false)
    }

    /// Reads further deliveries into the window.
    async fn read_on(&mut self, now: UnixTime) -> Result<()> {
        if self.window.is_empty() || now >= self.reread {
            self.read_to = None;
            self.reread = now.plus(REREAD_SECONDS);
        }
        let room = self.window.room();
        if room < AT_ONCE {
            return Ok(());
        }
        let store = &self.senders.shared.store;
        let read = records::pending_after(store, &self.at, self.read_to, room).await?;
        for pending in read {
            self.read_to = Some(pending.seq);
            self.window.add(pending);
        }
        Ok(())
    }

    fn launch(&mut self, endpoint: &Arc<Endpoint>, now: UnixTime) {
        // While the endpoint fails, one message at a time finds out whether it responds again.
        let at_once = if self.failures == 0 { AT_ONCE } else { 1 };
        let room = at_once.saturating_sub(self.attempts.len());
        if room == 0 || now < self.paused_until {
            return;
        }
        for pending in self.window.take_due(now, room) {
            let (shared, endpoint) = (self.shared().clone(), endpoint.clone());
            let span = selfsame_traces::begun(pending.delivery.told.trace, "webhook delivery")
                .with(|| Attribute::Attempts(pending.delivery.attempts));
            let attempt = async move {
                let attempted = send(&shared, &endpoint, &pending).await;
                EndedAttempt { pending, attempted }
            };
            self.attempts.spawn(span.watch(attempt, ended));
        }
    }

    /// Waits until an attempt has ended or there may be more to send, and commits what has ended.
    async fn wait(&mut self, woken: &Notify) {
        let mut stopping = self.senders.stopping.clone();
        let mut ended = Vec::new();
        tokio::select! {
            Some(joined) = self.attempts.join_next() => ended.extend(joined.ok()),
            () = woken.notified() => {}
            () = sleep(LOOKED_EVERY) => {}
            _ = stopping.changed() => {}
        }
        while let Some(joined) = self.attempts.try_join_next() {
            ended.extend(joined.ok());
        }
        if !ended.is_empty() {
            self.settle(ended).await;
        }
    }

    /// Commits the results of attempts.
    async fn settle(&mut self, ended: Vec<EndedAttempt>) {
        let ended = self.judged(ended);
        match self.commit(&ended).await {
            Ok(()) => {}
            Err(StoreError::Conflict { .. }) => {
                // One of them was removed or sent again by the operator: the others are committed one by one.
                for one in &ended {
                    match self.commit(std::slice::from_ref(one)).await {
                        Ok(()) => {}
                        Err(_) => self.window.end(one.pending.seq),
                    }
                }
                self.read_to = None;
            }
            Err(error) => {
                tracing::warn!(endpoint = self.at.id, %error, "results of webhooks can't be stored; they are sent again");
                for EndedAttempt { pending, .. } in ended {
                    self.window.put_back(pending);
                }
                sleep(LOOKED_EVERY).await;
            }
        }
    }

    /// Notes in each delivery what came of its attempt, and in the sender whether the endpoint responds.
    fn judged(&mut self, mut ended: Vec<EndedAttempt>) -> Vec<EndedAttempt> {
        let clock = self.shared().clock.clone();
        for EndedAttempt { pending, attempted } in &mut ended {
            let (ctx, now) = (clock.ctx(), clock.now());
            match attempted {
                Attempted::Delivered => {
                    if self.failures >= OUTAGE {
                        self.window.make_due(now);
                    }
                    self.failures = 0;
                    self.paused_until = UnixTime(0);
                }
                Attempted::Gone => {}
                Attempted::Failed(failed) => {
                    if failed.is_outage && now >= self.paused_until {
                        self.failures = self.failures.saturating_add(1);
                        let pause = endpoint_pause(self.failures, failed.retry_after, &ctx);
                        self.paused_until = now.plus(pause);
                    }
                    pending.delivery.fail(failed, &ctx);
                }
            }
        }
        ended
    }

    /// Commits results at once.
    async fn commit(&mut self, ended: &[EndedAttempt]) -> std::result::Result<(), StoreError> {
        let mut batch = Batch::new(self.at.owner.clone());
        for EndedAttempt { pending, attempted } in ended {
            batch = written(batch, pending, attempted);
        }
        let committed = self.senders.shared.store.commit(batch).await?;
        let mut versions = committed.versions.into_iter();
        for EndedAttempt { pending, attempted } in ended {
            match (attempted, pending.delivery.state) {
                (Attempted::Failed(_), DeliveryState::Pending) => {
                    let version = versions.next().unwrap_or(pending.version);
                    let pending = pending.clone();
                    self.window.put_back(Pending { version, ..pending });
                }
                (Attempted::Failed(_), DeliveryState::Failed) => {
                    versions.next();
                    self.window.end(pending.seq);
                }
                (Attempted::Delivered, _) => self.window.end(pending.seq),
                (Attempted::Gone, _) => {
                    self.window.put_back(pending.clone());
                    self.disable().await?;
                }
            }
        }
        Ok(())
    }

    /// Stops sending to an endpoint that wants no more.
    async fn disable(&self) -> std::result::Result<(), StoreError> {
        let store = &self.shared().store;
        let Ok(Some(mut found)) = records::endpoint(store, &self.at).await else {
            return Ok(());
        };
        found.endpoint.disabled = Some(Reason::new("webhook-gone"));
        let Ok(value) = encode(&found.endpoint) else {
            return Ok(());
        };
        let batch = Batch::new(self.at.owner.clone());
        let batch = batch.update_version(ENDPOINT, &self.at.id, found.version, value);
        match store.commit(batch).await {
            // The operator has just changed it; the next message is answered alike.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits for the attempts under way, so that their results are not lost, and lets other processes send.
    async fn end(&mut self) {
        let mut ended = Vec::new();
        while let Some(joined) = self.attempts.join_next().await {
            ended.extend(joined.ok());
        }
        if !ended.is_empty() {
            self.settle(ended).await;
        }
        let shared = self.shared().clone();
        self.turn.release(shift(&shared, &self.at)).await;
    }
}

/// How the span of an attempt ends.
fn ended(ended: &EndedAttempt) -> SpanEnd {
    let failed = match &ended.attempted {
        Attempted::Delivered => None,
        Attempted::Gone => Some("gone"),
        Attempted::Failed(_) => Some("error"),
    };
    SpanEnd {
        failed,
        attribute: None,
    }
}

/// Adds the result of one attempt to a batch.
fn written(batch: Batch, pending: &Pending, attempted: &Attempted) -> Batch {
    let Pending {
        id,
        version,
        delivery,
        ..
    } = pending;
    match (attempted, delivery.state) {
        (Attempted::Delivered, _) => batch.delete(DELIVERY, id),
        (Attempted::Gone, _) => batch,
        (Attempted::Failed(_), DeliveryState::Pending) => match encode(delivery) {
            Ok(value) => batch.update_version(DELIVERY, id, *version, value),
            Err(_) => batch,
        },
        (Attempted::Failed(_), DeliveryState::Failed) => {
            match records::delivery_put(id, delivery) {
                Ok(put) => batch
                    .expect(DELIVERY, id, Expect::Version(*version))
                    .put(put),
                Err(_) => batch,
            }
        }
    }
}

/// Sends a message once.
async fn send(shared: &Shared, endpoint: &Endpoint, pending: &Pending) -> Attempted {
    let limits = CallLimits {
        max_body: ANSWER_MAX,
        total_timeout: TIMEOUT,
    };
    if let EndpointForm::Agent(controller) = &endpoint.form {
        let message = ToController {
            url: &endpoint.url,
            controller,
            notice: pending.delivery.told.notice.as_ref(),
        };
        return message.send(shared, limits).await;
    }
    let now = shared.clock.now();
    let (body, timestamp) = (pending.delivery.told.body(), now.0.to_string());
    let message = SignedMessage {
        id: &pending.id,
        timestamp: &timestamp,
        body: &body,
    };
    let signatures = message.signatures(endpoint.secrets(now));
    let header = |name, value| CallHeader { name, value };
    let headers = [
        header("webhook-id", pending.id.as_str()),
        header("webhook-timestamp", &timestamp),
        header("webhook-signature", &signatures),
    ];
    let call = Call {
        method: Method::Post,
        url: &endpoint.url,
        body: Body::Json(body),
        authorization: Authorization::None,
        request: Request {
            limits: Some(limits),
            headers: &headers,
            ..Request::default()
        },
    };
    Attempted::of(shared.net.call(call).await)
}

/// Where the turn at an endpoint is kept.
fn shift<'a>(shared: &'a Shared, at: &'a EndpointAt) -> Shift<'a> {
    Shift {
        store: &shared.store,
        clock: &shared.clock,
        owner: &at.owner,
    }
}
