//! The source of a process's spans: their identifiers, and the queue of those that have ended.

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::ended::EndedSpan;
use crate::ids::Ids;

/// Ended spans that wait for the exporter; further ones are dropped. A span has about 300 bytes.
const WAITING_MAX: usize = 8_192;

pub(crate) struct SpanSource {
    pub(crate) ids: Ids,
    waiting: Sender<EndedSpan>,
}

impl SpanSource {
    pub(crate) fn new() -> (Self, Receiver<EndedSpan>) {
        let (waiting, ended) = channel(WAITING_MAX);
        let ids = Ids::new();
        (Self { ids, waiting }, ended)
    }

    /// Keeps an ended span for the exporter, or drops it: what ends a span never waits.
    pub(crate) fn keep(&self, ended: EndedSpan) {
        if self.waiting.try_send(ended).is_err() {
            metrics::counter!("selfsame_traces_dropped_total", "cause" => "queue").increment(1);
        }
    }
}
