//! Limits how many places one caller gets, for requests that wait for other hosts: the caller may have chosen slow
//! hosts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::budget::GatePlace;
use crate::error::Problem;
use crate::limits::Budget;
use crate::peer::{AddressBlock, Peer};

/// Beyond this number of lines, empty lines are removed.
const LINES: usize = 1024;

/// Whom a place is counted for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Whom {
    /// An account, by a text that no other account has.
    Account(String),
    /// The SHA-256 hash of an access token.
    Token([u8; 32]),
    /// A network.
    Network(AddressBlock),
}

impl Whom {
    /// The network that sent the request. `None` for this machine, which speaks for many.
    pub fn sender(request: &Request) -> Option<Self> {
        let peer = request.extensions().get::<Peer>()?;
        peer.bounded().map(Self::Network)
    }
}

/// The places, and the waiting lines for them.
#[derive(Clone)]
pub struct Turns {
    name: &'static str,
    running: Arc<Semaphore>,
    lines: Arc<Mutex<HashMap<Whom, Arc<CallerLine>>>>,
    each: usize,
    waiting: usize,
    patience: Duration,
}

/// The places of one caller, and the requests that wait for them.
struct CallerLine {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

/// One place.
struct TurnPlace {
    _own: Vec<OwnedSemaphorePermit>,
    _of_all: OwnedSemaphorePermit,
    /// Keeps the lines from being removed.
    _lines: Vec<Arc<CallerLine>>,
}

impl Turns {
    /// Places with the limits of `budget`, at most `each` of them for one caller.
    pub fn new(name: &'static str, budget: Budget, each: usize) -> Self {
        Self {
            name,
            running: Arc::new(Semaphore::new(budget.running)),
            lines: Arc::default(),
            each,
            waiting: budget.waiting,
            patience: budget.patience,
        }
    }

    /// Takes a place that counts for all of these callers.
    async fn enter(&self, whom: impl IntoIterator<Item = Whom>) -> Result<TurnPlace, Problem> {
        let lines: Vec<_> = whom.into_iter().map(|whom| self.line(whom)).collect();
        let queued = lines.iter().map(|line| line.waiting.try_acquire());
        let Ok(places) = queued.collect::<Result<Vec<_>, _>>() else {
            return Err(self.turn_away(StatusCode::TOO_MANY_REQUESTS));
        };
        let all = async {
            // The caller's own places first: a request that waits for them must not hold a shared place.
            let mut own = Vec::with_capacity(lines.len());
            for line in &lines {
                own.push(Arc::clone(&line.running).acquire_owned().await.ok()?);
            }
            let of_all = Arc::clone(&self.running).acquire_owned().await.ok()?;
            Some((own, of_all))
        };
        let Ok(Some((own, of_all))) = tokio::time::timeout(self.patience, all).await else {
            return Err(self.turn_away(StatusCode::SERVICE_UNAVAILABLE));
        };
        drop(places);
        Ok(TurnPlace {
            _own: own,
            _of_all: of_all,
            _lines: lines,
        })
    }

    fn line(&self, whom: Whom) -> Arc<CallerLine> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LINES {
            lines.retain(|_, line| Arc::strong_count(line) > 1);
        }
        let new = || {
            Arc::new(CallerLine {
                running: Arc::new(Semaphore::new(self.each)),
                waiting: Semaphore::new(self.waiting),
            })
        };
        Arc::clone(lines.entry(whom).or_insert_with(new))
    }

    /// Lets a request wait for a place that counts for all of these callers, and then runs it. It gives up its place
    /// behind its group's gate, so that others are answered meanwhile.
    pub async fn wait(
        &self,
        whom: impl IntoIterator<Item = Whom>,
        request: Request,
        next: Next,
    ) -> Response {
        if let Some(place) = request.extensions().get::<GatePlace>() {
            place.leave();
        }
        match self.enter(whom).await {
            Ok(_turn) => next.run(request).await,
            Err(problem) => problem.into_response(),
        }
    }

    fn turn_away(&self, status: StatusCode) -> Problem {
        metrics::counter!("selfsame_http_turned_away_total", "budget" => self.name).increment(1);
        Problem::new(status, "waits-crowded").come_back_in(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(waiting: usize) -> Turns {
        let budget = Budget {
            running: 3,
            waiting,
            patience: Duration::from_secs(5),
        };
        Turns::new("test", budget, 2)
    }

    fn whom(name: &str) -> Option<Whom> {
        Some(Whom::Account(name.to_owned()))
    }

    async fn status(turns: &Turns, name: &str) -> Option<u16> {
        let entered = turns.enter(whom(name)).await;
        entered.err().map(|problem| problem.status().as_u16())
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_his_share_waits_and_keeps_no_other_out() {
        let turns = turns(8);
        let first = turns.enter(whom("greedy")).await.ok().unwrap();
        let _second = turns.enter(whom("greedy")).await.ok().unwrap();
        assert_eq!(status(&turns, "greedy").await, Some(503));
        assert_eq!(status(&turns, "other").await, None);
        let waiting = tokio::spawn({
            let turns = turns.clone();
            async move { status(&turns, "greedy").await }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert_eq!(waiting.await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_is_too_long_is_too_long_for_one_only() {
        let turns = turns(1);
        let _places = [
            turns.enter(whom("greedy")).await.ok().unwrap(),
            turns.enter(whom("greedy")).await.ok().unwrap(),
        ];
        let waiting = tokio::spawn({
            let turns = turns.clone();
            async move { status(&turns, "greedy").await }
        });
        tokio::task::yield_now().await;
        assert_eq!(status(&turns, "greedy").await, Some(429));
        assert_eq!(status(&turns, "other").await, None);
        assert_eq!(waiting.await.unwrap(), Some(503));
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_is_counted_for_two_is_one_of_each() {
        let turns = turns(8);
        let both = |name: &str| whom("token").into_iter().chain(whom(name));
        let _first = turns.enter(both("one")).await.ok().unwrap();
        let _second = turns.enter(both("other")).await.ok().unwrap();
        assert!(turns.enter(both("third")).await.is_err());
        assert_eq!(status(&turns, "one").await, None);
    }

    #[tokio::test]
    async fn empty_lines_of_waiting_requests_are_forgotten() {
        let turns = turns(1);
        let _held = turns.enter(whom("held")).await.ok().unwrap();
        for number in 0..3 * LINES {
            assert_eq!(status(&turns, &number.to_string()).await, None);
        }
        let lines = turns.lines.lock().unwrap();
        assert!(lines.len() <= LINES && lines.contains_key(&whom("held").unwrap()));
    }
}
