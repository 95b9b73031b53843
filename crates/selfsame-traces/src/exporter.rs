//! The exporter: gives ended spans to a collector, in batches. While the collector is away it tries again, ever more
//! rarely; the queue fills meanwhile, and what has no place in it is dropped and counted.

use std::future::Future;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::ended::EndedSpan;
use crate::otlp::{self, TracedService};

/// Spans of one batch.
const BATCH: usize = 512;
/// How long a span waits for others of its batch.
const GATHERED_FOR: Duration = Duration::from_secs(1);
/// The deadline of one request to the collector.
const DEADLINE: Duration = Duration::from_secs(10);
/// The first pause after a failure; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How long a batch is tried. Traces of a longer outage are dropped.
const TRIED_FOR: Duration = Duration::from_secs(120);
/// How long the last batches may take when the instance stops.
const LAST: Duration = Duration::from_secs(3);

/// What a collector says of a batch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Delivered {
    /// It took the batch, but for this number of spans.
    Taken {
        /// Spans that it refused (`partialSuccess.rejectedSpans`).
        rejected: u64,
    },
    /// It can't be reached or has no room: try again, after these seconds if it names them.
    Later(Option<u64>),
    /// It refuses the batch for good, by this status.
    Refused(u16),
}

/// Exports the spans of one tracer.
pub struct Exporter {
    service: TracedService,
    instance: u128,
    ended: Receiver<EndedSpan>,
    /// The batch that is gathered or sent.
    batch: Vec<EndedSpan>,
    pause: Duration,
    is_away: bool,
}

impl Exporter {
    pub(crate) fn new(service: TracedService, instance: u128, ended: Receiver<EndedSpan>) -> Self {
        Self {
            service,
            instance,
            ended,
            batch: Vec::new(),
            pause: PAUSE,
            is_away: false,
        }
    }

    /// Exports until `stopping` says `true`; then exports what is left, within three seconds. `send` posts a body of
    /// OTLP in JSON to the collector.
    pub async fn run<F>(mut self, mut stopping: watch::Receiver<bool>, send: impl Fn(Vec<u8>) -> F)
    where
        F: Future<Output = Delivered>,
    {
        let stops = async {
            // An error means that the exporter has ended.
            let _ = stopping.wait_for(|stops| *stops).await;
        };
        let is_stopped = tokio::select! {
            () = self.work(&send) => false,
            () = stops => true,
        };
        if is_stopped {
            self.end(send).await;
        }
    }

    async fn work<F>(&mut self, send: &impl Fn(Vec<u8>) -> F)
    where
        F: Future<Output = Delivered>,
    {
        while self.gather().await {
            self.deliver(send).await;
        }
    }

    /// Waits for the next spans; false if there will be no more. What was gathered stays if this is dropped.
    async fn gather(&mut self) -> bool {
        let more = self.ended.recv_many(&mut self.batch, BATCH).await;
        let until = Instant::now() + GATHERED_FOR;
        while more > 0 && self.batch.len() < BATCH {
            let room = BATCH - self.batch.len();
            let more = self.ended.recv_many(&mut self.batch, room);
            match timeout_at(until, more).await {
                Ok(more) if more > 0 => {}
                _ => break,
            }
        }
        more > 0
    }

    /// Sends the batch until it is taken, refused or given up.
    async fn deliver<F>(&mut self, send: &impl Fn(Vec<u8>) -> F)
    where
        F: Future<Output = Delivered>,
    {
        let body = otlp::body(&self.service, self.instance, &self.batch);
        let tried_until = Instant::now() + TRIED_FOR;
        loop {
            let asked = match timeout(DEADLINE, send(body.clone())).await {
                Ok(Delivered::Later(asked)) => asked,
                Ok(ended) => return self.note(ended),
                Err(_elapsed) => None,
            };
            if !std::mem::replace(&mut self.is_away, true) {
                tracing::warn!("the collector of traces does not answer; it is tried again");
            }
            let pause = asked.map_or(self.pause, Duration::from_secs).min(PAUSE_MAX);
            self.pause = (self.pause * 2).min(PAUSE_MAX);
            if Instant::now() + pause > tried_until {
                dropped("collector", self.batch.len() as u64);
                return self.batch.clear();
            }
            sleep(pause).await;
        }
    }

    fn note(&mut self, ended: Delivered) {
        if std::mem::replace(&mut self.is_away, false) {
            tracing::warn!("the collector of traces answers again");
        }
        self.pause = PAUSE;
        let spans = self.batch.len() as u64;
        self.batch.clear();
        let rejected = match ended {
            Delivered::Taken { rejected } => rejected.min(spans),
            Delivered::Refused(status) => {
                tracing::warn!(status, "the collector refuses traces");
                spans
            }
            Delivered::Later(_) => spans,
        };
        dropped("refused", rejected);
        metrics::counter!("selfsame_traces_exported_total").increment(spans - rejected);
    }

    /// Exports what is left, and then ends.
    async fn end<F>(mut self, send: impl Fn(Vec<u8>) -> F)
    where
        F: Future<Output = Delivered>,
    {
        self.ended.close();
        let last = async {
            loop {
                let room = BATCH.saturating_sub(self.batch.len());
                if room > 0 {
                    self.ended.recv_many(&mut self.batch, room).await;
                }
                if self.batch.is_empty() {
                    return;
                }
                self.deliver(&send).await;
            }
        };
        // Spans that are not out by then are lost with the process.
        let _ = timeout(LAST, last).await;
    }
}

fn dropped(cause: &'static str, spans: u64) {
    if spans > 0 {
        metrics::counter!("selfsame_traces_dropped_total", "cause" => cause).increment(spans);
    }
}
