//! Changes that come while others are made wait, and are then made together: one transaction serves all of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::PostgresIndex;
use super::apply::{WrittenChange, apply};
use crate::backend::{BookName, IndexChange};
use crate::error::IndexResult;

/// After this many changes, no further ones are taken into a transaction.
const TOGETHER: usize = 1_000;
/// How many of a group may fail by themselves until the rest is taken to fail as well: the database may be gone.
const FAILURES: usize = 2;

/// The changes of a book that wait.
#[derive(Default)]
pub(super) struct WaitingChanges {
    /// Who holds it makes the changes that wait.
    turn: tokio::sync::Mutex<()>,
    waiting: Mutex<VecDeque<CallerChanges>>,
}

/// The changes of one caller.
struct CallerChanges {
    changes: Arc<[WrittenChange]>,
    answer: oneshot::Sender<IndexResult<()>>,
}

/// Makes changes, perhaps together with those of other callers.
pub(super) async fn apply_together(
    index: &PostgresIndex,
    book: &BookName,
    changes: &[IndexChange],
) -> IndexResult<()> {
    let queue = index.waiting(book);
    let changes: Arc<[WrittenChange]> = changes.iter().map(WrittenChange::of).collect();
    loop {
        let mut answered = queue.join(changes.clone());
        let _turn = queue.turn.lock().await;
        loop {
            match answered.try_recv() {
                Ok(answer) => return answer,
                Err(TryRecvError::Empty) => make(index, book, queue.next()).await,
                // The caller that had taken them was given up. Made twice, they change nothing.
                Err(TryRecvError::Closed) => break,
            }
        }
    }
}

/// Makes the changes of a group; if they can't be made together, those of each by themselves.
async fn make(index: &PostgresIndex, book: &BookName, group: Vec<CallerChanges>) {
    let made = {
        let all = group.iter().flat_map(|one| one.changes.iter());
        let all: Vec<&WrittenChange> = all.collect();
        apply_all(index, book, &all).await
    };
    let is_shared = group.len() > 1;
    let mut failed = 0_usize;
    for one in group {
        let answer = match &made {
            Err(_) if is_shared && failed < FAILURES => {
                let own: Vec<&WrittenChange> = one.changes.iter().collect();
                apply_all(index, book, &own).await
            }
            made => made.clone(),
        };
        failed = failed.saturating_add(usize::from(answer.is_err()));
        // Who waits no more needs no answer.
        let _ = one.answer.send(answer);
    }
}

async fn apply_all(
    index: &PostgresIndex,
    book: &BookName,
    changes: &[&WrittenChange],
) -> IndexResult<()> {
    apply(index.open(book).await?, changes, None).await
}

impl WaitingChanges {
    fn join(&self, changes: Arc<[WrittenChange]>) -> oneshot::Receiver<IndexResult<()>> {
        let (answer, answered) = oneshot::channel();
        self.held().push_back(CallerChanges { changes, answer });
        answered
    }

    /// The changes to make next, in the order in which they came.
    fn next(&self) -> Vec<CallerChanges> {
        let mut waiting = self.held();
        let (mut group, mut number) = (Vec::new(), 0_usize);
        while number < TOGETHER {
            let Some(one) = waiting.pop_front() else {
                break;
            };
            number = number.saturating_add(one.changes.len());
            group.push(one);
        }
        group
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<CallerChanges>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
