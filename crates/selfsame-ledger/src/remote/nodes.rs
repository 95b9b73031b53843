//! The nodes of a remote registry: the order to ask them in, which failed lately, and which asked to be called later.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use tokio::time::Instant;

use super::node::{Callee, UNANSWERED, UNREACHED, unanswered};

/// Seconds for which a node that failed is asked after the others.
const FAILED_FOR: u64 = 5;
/// Seconds for which a node that did not answer in time is asked after the others: asking it again costs time.
const SILENT_FOR: u64 = 30;
/// Seconds for which a node that gave a false answer is asked after the others.
const LIED_FOR: u64 = 600;
/// Maximum seconds for which a node is not called because it asked for that.
const LEFT_ALONE: u64 = 60;

/// Time limit for all nodes together.
const PATIENCE: Duration = Duration::from_secs(13);

/// The purpose of a call. A node that can't write may still answer reads.
#[derive(Clone, Copy)]
pub(super) enum For {
    Reads,
    Writes,
}

/// All nodes, in the operator's order.
pub(super) struct Nodes {
    nodes: Vec<NodePosition>,
    clock: Clock,
}

struct NodePosition {
    node: Arc<Callee>,
    reads: Mutex<Rest>,
    writes: Mutex<Rest>,
}

/// Until when a node is asked last, or not at all.
#[derive(Clone, Copy, Default)]
struct Rest {
    last: UnixTime,
    alone: UnixTime,
}

impl Nodes {
    pub(super) fn new(nodes: Vec<Callee>, clock: Clock) -> Self {
        let place = |node| NodePosition {
            node: Arc::new(node),
            reads: Mutex::default(),
            writes: Mutex::default(),
        };
        Self {
            nodes: nodes.into_iter().map(place).collect(),
            clock,
        }
    }

    /// The nodes that may be asked now, in the order in which to ask them. Those that failed lately come last.
    ///
    /// # Errors
    /// `Unavailable` if each node asked to be called later.
    pub(super) fn turn(&self, what: For) -> Result<Vec<Arc<Callee>>> {
        let now = self.clock.now();
        let rests = self.nodes.iter().map(|place| (place, *place.rest(what)));
        let mut turn: Vec<_> = rests
            .clone()
            .filter(|(_, rest)| rest.alone <= now)
            .collect();
        // The sort is stable: nodes that did not fail stay in the operator's order.
        turn.sort_by_key(|(_, rest)| if rest.last <= now { 0 } else { rest.last.0 });
        if turn.is_empty() {
            let first = rests.map(|(_, rest)| rest.alone.seconds_since(now)).min();
            let kind = ErrorKind::Unavailable {
                retry_after: first.unwrap_or(1).max(1),
            };
            return Err(Error::new(kind, "registry-later"));
        }
        Ok(turn
            .into_iter()
            .map(|(place, _)| place.node.clone())
            .collect())
    }

    /// The number of different origins. Several nodes with one origin count once.
    pub(super) fn places(&self) -> usize {
        let names = self.nodes.iter().map(|place| place.node.name());
        names.collect::<BTreeSet<_>>().len()
    }

    /// The time until which a caller of this instance waits.
    pub(super) fn patience() -> Instant {
        Instant::now() + PATIENCE
    }

    /// Asks one node after the other until one answers a read. A node that refuses is passed over too, since nothing
    /// proves its refusal. All together take no longer than a caller of this instance waits.
    pub(super) async fn ask<T, A>(&self, ask: impl Fn(Arc<Callee>) -> A) -> Result<T>
    where
        A: Future<Output = Result<T>>,
    {
        let (until, what) = (Self::patience(), For::Reads);
        let mut failed = None;
        for node in self.turn(what)? {
            let asked = tokio::time::timeout_at(until, ask(node.clone())).await;
            match asked.unwrap_or_else(|_| Err(unanswered())) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    let error = self.failed(&node, what, error);
                    failed = Some(better(failed, error));
                }
            }
        }
        Err(failed.unwrap_or_else(|| Error::internal("a registry without nodes")))
    }

    /// Notes that a node did not answer.
    pub(super) fn failed(&self, node: &Arc<Callee>, what: For, error: Error) -> Error {
        let now = self.clock.now();
        let silent = error.code == Some(UNANSWERED);
        if let Some(mut rest) = self.rest(node, what) {
            let asked_last = if silent { SILENT_FOR } else { FAILED_FOR };
            rest.last = rest.last.max(now.plus(asked_last));
            if let ErrorKind::TooMany { retry_after } | ErrorKind::Unavailable { retry_after } =
                error.kind
                && error.code.is_none()
            {
                rest.alone = now.plus(retry_after.min(LEFT_ALONE));
            }
        }
        tracing::warn!(node = node.name(), %error, "a node of the registry did not answer");
        named(node, error)
    }

    /// Notes that a node's answer is refused, and whether the node lied or is only behind.
    pub(super) fn refused(&self, node: &Arc<Callee>, lied: bool, error: Error) -> Error {
        let asked_last = if lied { LIED_FOR } else { FAILED_FOR };
        let until = self.clock.now().plus(asked_last);
        for what in [For::Reads, For::Writes] {
            if let Some(mut rest) = self.rest(node, what) {
                rest.last = rest.last.max(until);
            }
        }
        match lied {
            true => {
                tracing::error!(node = node.name(), %error, "a node of the registry gave a false answer")
            }
            false => tracing::warn!(node = node.name(), %error, "a node of the registry is behind"),
        }
        named(node, error)
    }

    fn rest(&self, node: &Arc<Callee>, what: For) -> Option<MutexGuard<'_, Rest>> {
        let place = self
            .nodes
            .iter()
            .find(|place| Arc::ptr_eq(&place.node, node));
        place.map(|place| place.rest(what))
    }
}

impl NodePosition {
    fn rest(&self, what: For) -> MutexGuard<'_, Rest> {
        let rest = match what {
            For::Reads => &self.reads,
            For::Writes => &self.writes,
        };
        rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error to report of two nodes: what a node says tells more than that another node can't be reached.
pub(super) fn better(before: Option<Error>, now: Error) -> Error {
    match before {
        Some(before)
            if !before
                .code
                .is_some_and(|code| [UNREACHED, UNANSWERED].contains(&code)) =>
        {
            before
        }
        _ => now,
    }
}

/// Adds the node's name to its error.
pub(super) fn named(node: &Callee, error: Error) -> Error {
    Error {
        reason: Reason::new("node-said")
            .because(error.reason)
            .with("node", &node.name()),
        ..error
    }
}
