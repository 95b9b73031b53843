//! Limits how many requests of one audience run at a time, so that no audience can starve another.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::arrival::parting;
use crate::error::{self, Face, Problem};
use crate::guarded_body::GuardedBody;
use crate::limits::Budget;

/// The gate before a group of routes.
#[derive(Clone)]
pub struct Gate {
    name: &'static str,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    patience: Duration,
}

impl Gate {
    /// A gate with the limits of `budget`.
    pub fn new(name: &'static str, budget: Budget) -> Self {
        Self {
            name,
            running: Arc::new(Semaphore::new(budget.running)),
            waiting: Arc::new(Semaphore::new(budget.waiting)),
            patience: budget.patience,
        }
    }

    async fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(permit);
        }
        let Ok(_place) = self.waiting.try_acquire() else {
            return Err(self.turn_away(StatusCode::TOO_MANY_REQUESTS));
        };
        match tokio::time::timeout(self.patience, Arc::clone(&self.running).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(self.turn_away(StatusCode::SERVICE_UNAVAILABLE)),
        }
    }

    fn turn_away(&self, status: StatusCode) -> Problem {
        metrics::counter!("selfsame_http_turned_away_total", "budget" => self.name).increment(1);
        Problem::new(status, "busy").come_back_in(1)
    }
}

/// A request's place behind a gate, as an extension of the request. A request that moves on to wait elsewhere leaves
/// its place early.
#[derive(Clone, Default)]
pub struct GatePlace(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl GatePlace {
    fn take(&self, permit: OwnedSemaphorePermit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
    }

    /// Gives the place to the next request.
    pub fn leave(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A gate, the face of the group behind it, and the time limit of a request.
pub struct Passage {
    /// The gate.
    pub gate: Gate,
    /// The format of refusals.
    pub face: Face,
    /// Time limit of one request, not counting the wait at the gate.
    pub time: Duration,
    /// Whether the response continues after its head. It then keeps its place until its end, and a request that finds
    /// no place is refused and its connection closed.
    pub lasting: bool,
}

/// Lets a request in when there is room, limits its time, and writes its errors in the group's format.
pub async fn pass(
    passage: &Passage,
    place: GatePlace,
    answer: impl Future<Output = Response>,
) -> Response {
    let response = match passage.gate.enter().await {
        Err(problem) if passage.lasting => parting(problem),
        Err(problem) => problem.into_response(),
        Ok(permit) => {
            place.take(permit);
            match tokio::time::timeout(passage.time, answer).await {
                Ok(response) if passage.lasting => {
                    response.map(|body| Body::new(GuardedBody::new(body, place)))
                }
                Ok(response) => response,
                Err(_elapsed) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, "request-too-slow")
                    .come_back_in(1)
                    .into_response(),
            }
        }
    };
    error::write(passage.face, response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(running: usize, waiting: usize) -> Gate {
        Gate::new(
            "test",
            Budget {
                running,
                waiting,
                patience: Duration::from_secs(5),
            },
        )
    }

    #[tokio::test(start_paused = true)]
    async fn beyond_the_queue_is_429_and_beyond_patience_is_503() {
        let gate = gate(1, 1);
        let first = gate.enter().await.unwrap();
        let queued = tokio::spawn({
            let gate = gate.clone();
            async move {
                gate.enter()
                    .await
                    .map(drop)
                    .map_err(|problem| problem.status())
            }
        });
        tokio::task::yield_now().await;
        assert_eq!(
            gate.enter().await.unwrap_err().status(),
            StatusCode::TOO_MANY_REQUESTS
        );
        assert_eq!(queued.await.unwrap(), Err(StatusCode::SERVICE_UNAVAILABLE));
        drop(first);
        assert!(gate.enter().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_waits_gets_in_when_another_leaves() {
        let gate = gate(1, 1);
        let first = gate.enter().await.unwrap();
        let queued = tokio::spawn({
            let gate = gate.clone();
            async move { gate.enter().await.is_ok() }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert!(queued.await.unwrap());
    }
}
