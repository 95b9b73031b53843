//! Places of which nobody gets more than a few: for requests that wait for other hosts, which the caller may have
//! chosen for their slowness.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::budget::Place;
use crate::auth::Seat;
use crate::error::Problem;
use crate::peer::{Network, Peer};
use crate::settings::Limits;

/// So many lines are kept before those in which nobody stands are looked for.
const LINES: usize = 1024;

/// Whom a place is counted for.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Whom {
    Account(String),
    Network(Network),
}

/// The places, and the lines before them.
#[derive(Clone)]
pub struct Turns {
    name: &'static str,
    running: Arc<Semaphore>,
    lines: Arc<Mutex<HashMap<Whom, Arc<Line>>>>,
    each: usize,
    waiting: usize,
    patience: Duration,
}

/// The places of one caller, and who waits for them.
struct Line {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

/// One place.
struct Turn {
    _own: Option<OwnedSemaphorePermit>,
    _of_all: OwnedSemaphorePermit,
    /// Keeps the line from being forgotten.
    _line: Option<Arc<Line>>,
}

impl Turns {
    /// As many places as `limits` says.
    pub fn new(name: &'static str, limits: &Limits) -> Self {
        Self {
            name,
            running: Arc::new(Semaphore::new(limits.abroad.running)),
            lines: Arc::default(),
            each: limits.abroad_each,
            waiting: limits.abroad.waiting,
            patience: limits.abroad.patience,
        }
    }

    async fn enter(&self, whom: Option<Whom>) -> Result<Turn, Problem> {
        let line = whom.map(|whom| self.line(whom));
        let _place = match &line {
            Some(line) => match line.waiting.try_acquire() {
                Ok(place) => Some(place),
                Err(_) => return Err(self.turn_away(StatusCode::TOO_MANY_REQUESTS)),
            },
            None => None,
        };
        let both = async {
            // The own first: who waits for that shall not keep one of all.
            let own = match &line {
                Some(line) => Some(Arc::clone(&line.running).acquire_owned().await.ok()?),
                None => None,
            };
            let of_all = Arc::clone(&self.running).acquire_owned().await.ok()?;
            Some((own, of_all))
        };
        let Ok(Some((own, of_all))) = tokio::time::timeout(self.patience, both).await else {
            return Err(self.turn_away(StatusCode::SERVICE_UNAVAILABLE));
        };
        Ok(Turn {
            _own: own,
            _of_all: of_all,
            _line: line.clone(),
        })
    }

    fn line(&self, whom: Whom) -> Arc<Line> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LINES {
            lines.retain(|_, line| Arc::strong_count(line) > 1);
        }
        let new = || {
            Arc::new(Line {
                running: Arc::new(Semaphore::new(self.each)),
                waiting: Semaphore::new(self.waiting),
            })
        };
        Arc::clone(lines.entry(whom).or_insert_with(new))
    }

    fn turn_away(&self, status: StatusCode) -> Problem {
        metrics::counter!("selfsame_http_turned_away_total", "budget" => self.name).increment(1);
        Problem::new(
            status,
            "too many requests that wait for other hosts are under way",
        )
        .come_back_in(1)
    }
}

/// Lets a request wait among its like: it gives up its place behind the gate of its group, where others are answered
/// from here.
pub async fn abroad(State(turns): State<Turns>, request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let whom = match extensions.get::<Seat>() {
        Some(Seat::Person { person, .. }) => Some(Whom::Account(person.tenant.to_string())),
        _ => extensions
            .get::<Peer>()
            .and_then(|peer| peer.bounded())
            .map(Whom::Network),
    };
    if let Some(place) = extensions.get::<Place>() {
        place.leave();
    }
    match turns.enter(whom).await {
        Ok(_turn) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Budget;

    fn turns(waiting: usize) -> Turns {
        Turns::new(
            "test",
            &Limits {
                abroad: Budget {
                    running: 3,
                    waiting,
                    patience: Duration::from_secs(5),
                },
                abroad_each: 2,
                ..Limits::default()
            },
        )
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

    #[tokio::test]
    async fn lines_in_which_nobody_stands_are_forgotten() {
        let turns = turns(1);
        let _held = turns.enter(whom("held")).await.ok().unwrap();
        for number in 0..3 * LINES {
            assert_eq!(status(&turns, &number.to_string()).await, None);
        }
        let lines = turns.lines.lock().unwrap();
        assert!(lines.len() <= LINES && lines.contains_key(&whom("held").unwrap()));
    }
}
