//! The nodes of a registry elsewhere: who is asked first, who failed lately, and who asked to be left alone.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use tokio::time::Instant;

use super::node::{Node, UNANSWERED, UNREACHED, unanswered};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};

/// Seconds for which a node that failed is asked after the others.
const FAILED_FOR: u64 = 5;
/// Seconds for which one is that took the call and said nothing: to ask it again costs time.
const SILENT_FOR: u64 = 30;
/// Seconds for which a node that lied is.
const LIED_FOR: u64 = 600;
/// Most seconds for which a node is left alone because it asked for it.
const LEFT_ALONE: u64 = 60;

/// How long all nodes together may take.
const PATIENCE: Duration = Duration::from_secs(13);

/// What a node is asked for. One that cannot write may read all the same.
#[derive(Clone, Copy)]
pub(super) enum For {
    Reads,
    Writes,
}

/// All nodes, in the operator's order.
pub(super) struct Nodes {
    nodes: Vec<Place>,
    clock: Clock,
}

struct Place {
    node: Arc<Node>,
    reads: Mutex<Rest>,
    writes: Mutex<Rest>,
}

/// Until when a node is not the first to be asked, or not asked at all.
#[derive(Clone, Copy, Default)]
struct Rest {
    last: UnixTime,
    alone: UnixTime,
}

impl Nodes {
    pub(super) fn new(nodes: Vec<Node>, clock: Clock) -> Self {
        let place = |node| Place {
            node: Arc::new(node),
            reads: Mutex::default(),
            writes: Mutex::default(),
        };
        Self {
            nodes: nodes.into_iter().map(place).collect(),
            clock,
        }
    }

    /// Those that may be asked now, in the order in which to ask them: who failed lately comes last.
    ///
    /// # Errors
    /// `Unavailable` if each asked to be left alone for now.
    pub(super) fn turn(&self, what: For) -> Result<Vec<Arc<Node>>> {
        let now = self.clock.now();
        let rests = self.nodes.iter().map(|place| (place, *place.rest(what)));
        let mut turn: Vec<_> = rests
            .clone()
            .filter(|(_, rest)| rest.alone <= now)
            .collect();
        // Stable: those that did not fail stay in the operator's order.
        turn.sort_by_key(|(_, rest)| if rest.last <= now { 0 } else { rest.last.0 });
        if turn.is_empty() {
            let first = rests.map(|(_, rest)| rest.alone.seconds_since(now)).min();
            let kind = ErrorKind::Unavailable {
                retry_after: first.unwrap_or(1).max(1),
            };
            return Err(Error::new(kind, "the registry asked to be called later"));
        }
        Ok(turn
            .into_iter()
            .map(|(place, _)| place.node.clone())
            .collect())
    }

    /// How many different places the nodes are at: two names of one are not two witnesses.
    pub(super) fn places(&self) -> usize {
        let names = self.nodes.iter().map(|place| place.node.name());
        names.collect::<BTreeSet<_>>().len()
    }

    /// When whoever asks this instance waits no longer.
    pub(super) fn patience() -> Instant {
        Instant::now() + PATIENCE
    }

    /// Asks one node after the other until one answers, for a read. A node that refuses one is passed over too: what it
    /// says is proven by nothing. All together take no longer than whoever asks this instance waits.
    pub(super) async fn ask<T, A>(&self, ask: impl Fn(Arc<Node>) -> A) -> Result<T>
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
                    let error = self.failed(&node, (what, error));
                    failed = Some(better(failed, error));
                }
            }
        }
        Err(failed.unwrap_or_else(|| Error::internal("a registry without nodes")))
    }

    /// Remembers that a node gave no answer.
    pub(super) fn failed(&self, node: &Arc<Node>, (what, error): (For, Error)) -> Error {
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

    /// Remembers that what a node said does not hold; whether it lied or is only behind.
    pub(super) fn refused(&self, node: &Arc<Node>, (lied, error): (bool, Error)) -> Error {
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

    fn rest(&self, node: &Arc<Node>, what: For) -> Option<MutexGuard<'_, Rest>> {
        let place = self
            .nodes
            .iter()
            .find(|place| Arc::ptr_eq(&place.node, node));
        place.map(|place| place.rest(what))
    }
}

impl Place {
    fn rest(&self, what: For) -> MutexGuard<'_, Rest> {
        let rest = match what {
            For::Reads => &self.reads,
            For::Writes => &self.writes,
        };
        rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of two nodes' failures the one to tell: what a node says tells more than that another one is away.
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

/// The error with the node it is of.
pub(super) fn named(node: &Node, error: Error) -> Error {
    Error {
        reason: format!("{} ({})", error.reason, node.name()),
        ..error
    }
}
