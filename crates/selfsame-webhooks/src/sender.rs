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
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::controller::ToController;
use crate::delivery::{DeliveryState, ToldEvent};
use crate::endpoint::{Endpoint, EndpointForm, INWARD, is_outside};
use crate::event_type::EventType;
use crate::patience::{Attempted, endpoint_pause};
use crate::records::{self, DELIVERY, ENDPOINT, EndpointAt, FoundEndpoint, TURN};
use crate::signature::SignedMessage;
use crate::told_reader;
use crate::window::{Pending, Window};

/// Messages sent to one endpoint at once.
const AT_ONCE: usize = 32;
/// Messages sent at once to one subscriber's endpoint of a credential book, and to those of all books of this process.
/// Outsiders name them, and there may be hundreds for each book.
pub(crate) const TO_READER_AT_ONCE: usize = 4;
pub(crate) const TO_READERS_AT_ONCE: usize = 48;
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
    /// The places of messages to subscribers of credential books.
    pub reader_places: Arc<Semaphore>,
    stopping: watch::Receiver<bool>,
}

impl Senders {
    pub fn new(shared: Arc<Shared>, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let process = shared.clock.ctx().token("webhook/process");
        Arc::new(Self {
            shared,
            process,
            running: Mutex::default(),
            reader_places: Arc::new(Semaphore::new(TO_READERS_AT_ONCE)),
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

    /// Whether the sender of an endpoint runs.
    #[cfg(test)]
    pub fn is_running(&self, at: &EndpointAt) -> bool {
        self.running().contains_key(at)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<EndpointAt, Arc<Notify>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message once there is a place for it; `None` if the instance stops before.
    async fn send(&self, endpoint: &Endpoint, pending: Pending) -> Option<EndedAttempt> {
        let _place = match endpoint.form {
            EndpointForm::Book(_) => {
                let mut stopping = self.stopping.clone();
                let stopped = async { drop(stopping.wait_for(|stopping| *stopping).await) };
                tokio::select! {
                    place = self.reader_places.clone().acquire_owned() => Some(place.ok()?),
                    () = stopped => return None,
                }
            }
            EndpointForm::Standard | EndpointForm::Agent(_) => None,
        };
        let span = selfsame_traces::begun(pending.delivery.told.trace, "webhook delivery")
            .with(|| Attribute::Attempts(pending.delivery.attempts));
        let attempt = async {
            let attempted = send(&self.shared, endpoint, &pending).await;
            EndedAttempt { pending, attempted }
        };
        Some(span.watch(attempt, ended).await)
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
    /// Those under way; `None` comes of one that the end of the instance has forestalled.
    attempts: JoinSet<Option<EndedAttempt>>,
    /// The last delivery that was read.
    read_to: Option<u64>,
    /// When the deliveries are read from the oldest on again.
    reread: UnixTime,
    /// Failures of the endpoint in a row.
    failures: u32,
    /// Nothing is sent until then.
    paused_until: UnixTime,
}

/// Why nothing is sent to an endpoint from now on.
enum EndpointStop {
    /// It wants no more messages.
    Gone,
    /// A message was given up, whose last attempt failed so.
    GaveUp(Reason),
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
        let at_once = match endpoint.form {
            _ if self.failures > 0 => 1,
            EndpointForm::Book(_) => TO_READER_AT_ONCE,
            EndpointForm::Standard | EndpointForm::Agent(_) => AT_ONCE,
        };
        let room = at_once.saturating_sub(self.attempts.len());
        if room == 0 || now < self.paused_until {
            return;
        }
        for pending in self.window.take_due(now, room) {
            let (senders, endpoint) = (self.senders.clone(), endpoint.clone());
            self.attempts
                .spawn(async move { senders.send(&endpoint, pending).await });
        }
    }

    /// Waits until an attempt has ended or there may be more to send, and commits what has ended.
    async fn wait(&mut self, woken: &Notify) {
        let mut stopping = self.senders.stopping.clone();
        let mut ended = Vec::new();
        tokio::select! {
            Some(joined) = self.attempts.join_next() => ended.extend(joined.ok().flatten()),
            () = woken.notified() => {}
            () = sleep(LOOKED_EVERY) => {}
            _ = stopping.changed() => {}
        }
        while let Some(joined) = self.attempts.try_join_next() {
            ended.extend(joined.ok().flatten());
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
        let mut stopped = None;
        for EndedAttempt { pending, attempted } in ended {
            match (attempted, pending.delivery.state) {
                (Attempted::Failed(_), DeliveryState::Pending) => {
                    let version = versions.next().unwrap_or(pending.version);
                    let pending = pending.clone();
                    self.window.put_back(Pending { version, ..pending });
                }
                (Attempted::Failed(failed), DeliveryState::Failed) => {
                    versions.next();
                    self.window.end(pending.seq);
                    stopped = stopped.or_else(|| Some(EndpointStop::GaveUp(failed.reason.clone())));
                }
                (Attempted::Delivered, _) => self.window.end(pending.seq),
                (Attempted::Gone, _) => {
                    self.window.put_back(pending.clone());
                    stopped = Some(EndpointStop::Gone);
                }
            }
        }
        match stopped {
            Some(stopped) => self.stop(stopped).await,
            None => Ok(()),
        }
    }

    /// Stops sending to an endpoint that wants no more, and to a subscriber of a credential book for whom a message was
    /// given up. Of the latter, the owner's own endpoints are told.
    async fn stop(&self, stopped: EndpointStop) -> std::result::Result<(), StoreError> {
        let store = &self.shared().store;
        let Ok(Some(mut found)) = records::endpoint(store, &self.at).await else {
            return Ok(());
        };
        // Another message, or the operator, has stopped it already: that is told once.
        if found.endpoint.disabled.is_some() {
            return Ok(());
        }
        let is_subscription = found.endpoint.subscriber().is_some();
        let because = match stopped {
            EndpointStop::Gone => Reason::new("webhook-gone"),
            EndpointStop::GaveUp(last) if is_subscription => {
                Reason::new("book-subscription-failing").because(last)
            }
            EndpointStop::GaveUp(_) => return Ok(()),
        };
        found.endpoint.disabled = Some(because);
        let Ok(value) = encode(&found.endpoint) else {
            return Ok(());
        };
        let batch = Batch::new(self.at.owner.clone());
        let mut batch = batch.update_version(ENDPOINT, &self.at.id, found.version, value);
        let mut told = Vec::new();
        if is_subscription {
            let subscriber = found.endpoint.subscriber().unwrap_or_default();
            tracing::warn!(
                subscription = self.at.id,
                subscriber,
                "a subscription of a credential book is paused, because its receiver takes nothing"
            );
            (batch, told) = self.telling(batch).await;
        }
        match store.commit(batch).await {
            Ok(_) => {
                told.iter().for_each(|at| self.senders.wake(at));
                Ok(())
            }
            // The operator has just changed it; the next message is answered alike.
            Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Adds the deliveries by which the owner's own endpoints are told that this subscription is paused.
    async fn telling(&self, mut batch: Batch) -> (Batch, Vec<EndpointAt>) {
        let (shared, owner) = (self.shared(), &self.at.owner);
        let ctx = shared.clock.ctx();
        let told = ToldEvent {
            event_type: EventType::SubscriptionPaused,
            subject: self.at.id.clone(),
            at: ctx.now(),
            cursor: None,
            notice: None,
            trace: None,
        };
        let mut woken = Vec::new();
        let Ok(endpoints) = records::endpoints(&shared.store, owner).await else {
            return (batch, woken);
        };
        let wanting = |found: &&FoundEndpoint| found.endpoint.wants(told.event_type);
        for found in endpoints.iter().filter(wanting) {
            let delivery = told.clone().to(&found.id, ctx.now());
            let message = format!("msg_{}", ctx.token(&found.id));
            let Ok(put) = records::delivery_put(&message, &delivery) else {
                continue;
            };
            batch = batch.put(put);
            woken.push(EndpointAt {
                owner: owner.clone(),
                id: found.id.clone(),
            });
        }
        (batch, woken)
    }

    /// Waits for the attempts under way, so that their results are not lost, and lets other processes send.
    async fn end(&mut self) {
        let mut ended = Vec::new();
        while let Some(joined) = self.attempts.join_next().await {
            ended.extend(joined.ok().flatten());
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
    let body = match &endpoint.form {
        EndpointForm::Book(reader) => {
            // The settings may have come to trust its origin since.
            let reach = shared.net.check(&endpoint.url);
            let origin = reader.origin.as_deref();
            if reach.is_ok_and(|reach| !is_outside(&endpoint.url, reach, origin)) {
                let refused = Reason::new("webhook-url-refused").with("detail", INWARD);
                return Attempted::unmade(refused);
            }
            match told_reader::body(&shared.store, reader, &pending.delivery).await {
                Ok(Some(body)) => body,
                // Its entry was erased: nobody hears of it any more.
                Ok(None) => return Attempted::Delivered,
                Err(error) => return Attempted::unmade(error.reason),
            }
        }
        EndpointForm::Standard | EndpointForm::Agent(_) => pending.delivery.told.body(),
    };
    let now = shared.clock.now();
    let timestamp = now.0.to_string();
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
