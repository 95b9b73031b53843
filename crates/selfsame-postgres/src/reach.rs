//! Whether the database answers. Reads and commits that succeed say so; otherwise one question at a time asks, for all
//! who want to know.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long an answer counts.
const FRESH: Duration = Duration::from_secs(1);
/// How long a database may take to answer a question.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known of the database. All clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach(Arc<Mutex<LatelySeen>>);

#[derive(Debug, Default)]
struct LatelySeen {
    /// When a read last succeeded.
    read: Option<Instant>,
    /// Whether the last commit found no database that took it.
    is_unwritable: bool,
    question: Option<AskedDatabase>,
}

/// A question to the database, which may be under way.
#[derive(Clone, Debug)]
struct AskedDatabase {
    began: Instant,
    answer: watch::Receiver<Option<bool>>,
}

impl Reach {
    /// Notes that a read succeeded.
    pub(crate) fn read(&self) {
        self.seen().read = Some(Instant::now());
    }

    /// Notes whether a commit found a database that takes commits.
    pub(crate) fn wrote(&self, is_taken: bool) {
        self.seen().is_unwritable = !is_taken;
    }

    /// Whether the database takes commits and answers reads. The question is asked at most once a second, and goes on
    /// if the caller does not wait for its answer: it also finds connections that are open and silent.
    pub(crate) async fn answers<Q>(&self, question: impl FnOnce() -> Q + Send) -> bool
    where
        Q: Future<Output = bool> + Send + 'static,
    {
        let Some(mut question) = self.question(question) else {
            return true;
        };
        let until = question.began + PATIENCE;
        let answered = timeout_at(until, question.answer.wait_for(Option::is_some)).await;
        let is_read = answered.is_ok_and(|answer| answer.is_ok_and(|answer| *answer == Some(true)));
        is_read && !self.seen().is_unwritable
    }

    /// The question whose answer counts now; `None` if what happened lately is answer enough.
    fn question<Q>(&self, ask: impl FnOnce() -> Q) -> Option<AskedDatabase>
    where
        Q: Future<Output = bool> + Send + 'static,
    {
        let mut seen = self.seen();
        if !seen.is_unwritable && seen.read.is_some_and(|read| read.elapsed() < FRESH) {
            return None;
        }
        let last = seen.question.take().filter(AskedDatabase::is_current);
        let question = last.unwrap_or_else(|| AskedDatabase::ask(ask()));
        seen.question = Some(question.clone());
        Some(question)
    }

    fn seen(&self) -> MutexGuard<'_, LatelySeen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AskedDatabase {
    fn ask(question: impl Future<Output = bool> + Send + 'static) -> Self {
        let (tell, answer) = watch::channel(None);
        tokio::spawn(async move { tell.send_replace(Some(question.await)) });
        Self {
            began: Instant::now(),
            answer,
        }
    }

    /// Whether it is under way, or was asked a moment ago.
    fn is_current(&self) -> bool {
        self.answer.borrow().is_none() && self.answer.has_changed().is_ok()
            || self.began.elapsed() < FRESH
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A database that answers after a time, and counts its questions.
    #[derive(Clone, Default)]
    struct Database {
        asked: Arc<AtomicU32>,
        takes: Duration,
        is_there: bool,
    }

    impl Database {
        fn new(takes: Duration, is_there: bool) -> Self {
            Self {
                asked: Arc::default(),
                takes,
                is_there,
            }
        }

        async fn answers(&self, reach: &Reach) -> bool {
            let database = self.clone();
            let question = || async move {
                database.asked.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(database.takes).await;
                database.is_there
            };
            reach.answers(question).await
        }

        fn asked(&self) -> u32 {
            self.asked.load(Ordering::SeqCst)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_callers_of_a_second_share_one_question() {
        for is_there in [true, false] {
            let (reach, database) = (Reach::default(), Database::new(FRESH / 10, is_there));
            let callers = (0..100).map(|_| database.answers(&reach));
            for answer in futures_util::future::join_all(callers).await {
                assert_eq!(answer, is_there);
            }
            assert_eq!(database.asked(), 1);
            tokio::time::advance(FRESH).await;
            assert_eq!(database.answers(&reach).await, is_there);
            assert_eq!(database.asked(), 2);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_database_is_waited_for_once_and_asked_again_only_after_the_question_is_over()
    {
        let (reach, database) = (Reach::default(), Database::new(PATIENCE * 4, true));
        let began = Instant::now();
        assert!(!database.answers(&reach).await);
        assert_eq!(began.elapsed(), PATIENCE);
        tokio::time::advance(PATIENCE).await;
        let later = Instant::now();
        assert!(!database.answers(&reach).await);
        assert_eq!((later.elapsed(), database.asked()), (Duration::ZERO, 1));
        tokio::time::sleep(PATIENCE * 4).await;
        assert!(!database.answers(&reach).await);
        assert_eq!(database.asked(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_succeeded_is_answer_enough_unless_commits_fail() {
        let (reach, database) = (Reach::default(), Database::new(Duration::ZERO, true));
        reach.read();
        assert!(database.answers(&reach).await);
        assert_eq!(database.asked(), 0);
        reach.wrote(false);
        assert!(!database.answers(&reach).await);
        reach.wrote(true);
        tokio::time::advance(FRESH).await;
        assert!(database.answers(&reach).await);
        assert_eq!(database.asked(), 2);
    }
}
