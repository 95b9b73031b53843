//! What a number of sign-ins gave: the times of each call, when it was made, and what failed.

use std::time::{Duration, Instant};

use selfsame_bench::Error;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use tokio::task::JoinSet;

use crate::clock::now;

/// A call that was answered.
#[derive(Clone, Copy, Debug)]
pub struct TimedCall {
    /// When it began.
    pub began: Instant,
    /// How long it took.
    pub took: Duration,
}

/// The calls of a sign-in; those before the one that failed.
#[derive(Default)]
pub struct WalkedSignIn {
    /// The calls, in their order.
    pub calls: Vec<TimedCall>,
    /// Why the sign-in ended early.
    pub failed: Option<Error>,
}

/// The result of one round of sign-ins with this number of calls each.
pub struct SignInRound<const CALLS: usize> {
    /// The times of each call, in milliseconds.
    pub calls: [Sample; CALLS],
    /// When each of those began, in seconds since the round began.
    pub began: [Vec<f64>; CALLS],
    /// How many times each call failed.
    pub failed_at: [usize; CALLS],
    /// The sign-ins that were finished.
    pub finished: usize,
    /// Why the first call failed that did.
    pub why: Option<String>,
    /// When the round began.
    pub since: Instant,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl<const CALLS: usize> SignInRound<CALLS> {
    /// A round that begins now.
    pub fn begin() -> Self {
        Self {
            calls: std::array::from_fn(|_| Sample::default()),
            began: std::array::from_fn(|_| Vec::new()),
            failed_at: [0; CALLS],
            finished: 0,
            why: None,
            since: now(),
            seconds: 0.0,
        }
    }

    /// Waits for users, each of whom has some sign-ins. `ended` is told of each sign-in.
    pub async fn of(mut self, mut users: JoinSet<Vec<WalkedSignIn>>, ended: impl Fn()) -> Self {
        while let Some(walked) = users.join_next().await {
            for walked in walked.unwrap_or_default() {
                self.add(walked);
                ended();
            }
        }
        self.seconds = self.since.elapsed().as_secs_f64();
        self
    }

    /// Adds a sign-in.
    pub fn add(&mut self, walked: WalkedSignIn) {
        let at = walked.calls.len();
        let samples = self.calls.iter_mut().zip(&mut self.began);
        for ((sample, began), call) in samples.zip(walked.calls) {
            sample.add(call.took);
            let since = call.began.saturating_duration_since(self.since);
            began.push(since.as_secs_f64());
        }
        let Some(error) = walked.failed else {
            self.finished += 1;
            return;
        };
        self.why.get_or_insert(error.to_string());
        if let Some(failed) = self.failed_at.get_mut(at.min(CALLS - 1)) {
            *failed += 1;
        }
    }

    /// The number of calls that failed. Each ends its sign-in.
    pub fn failed(&self) -> usize {
        self.failed_at.iter().sum()
    }

    /// The sign-ins that were finished in a second.
    pub fn sign_ins_s(&self) -> f64 {
        self.finished as f64 / self.seconds.max(f64::EPSILON)
    }

    /// What nine of ten of the calls that `counts` names by their places did not exceed, in milliseconds: the slowest's.
    pub fn p90(&self, counts: impl Fn(usize) -> bool) -> f64 {
        let calls = self.calls.iter().enumerate().filter(|(at, _)| counts(*at));
        calls
            .map(|(_, sample)| sample.quantile(0.9))
            .fold(0.0, f64::max)
    }

    /// The figure of the calls that failed, of which there must be none.
    pub fn errors(&self, name: impl Into<String>) -> Figure {
        errors(name, self.failed(), self.why.as_deref())
    }
}

/// The figure of calls that failed, of which there must be none.
pub fn errors(name: impl Into<String>, failed: usize, why: Option<&str>) -> Figure {
    let figure = Figure::new(name, failed as f64, "").bar(Bar::AtMost(0.0));
    match why {
        Some(why) => figure.note(why),
        None => figure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(calls: usize, failed: Option<&str>) -> WalkedSignIn {
        let call = TimedCall {
            began: now(),
            took: Duration::from_millis(3),
        };
        WalkedSignIn {
            calls: vec![call; calls],
            failed: failed.map(|why| Error::Server(why.to_owned())),
        }
    }

    #[test]
    fn a_failure_counts_at_the_call_that_failed() {
        let mut round = SignInRound::<7>::begin();
        round.add(walked(7, None));
        round.add(walked(2, Some("no code was sent")));
        assert_eq!(
            (round.finished, round.failed(), round.failed_at[2]),
            (1, 1, 1)
        );
        assert_eq!((round.calls[1].len(), round.calls[2].len()), (2, 1));
        let errors = round.errors("errors");
        assert_eq!((errors.value, errors.holds), (1.0, Some(false)));
        assert!(errors.note.unwrap().contains("no code was sent"));
    }

    #[test]
    fn the_p90_is_that_of_the_slowest_of_the_calls_that_count() {
        let mut round = SignInRound::<2>::begin();
        for (sample, time) in round.calls.iter_mut().zip([5.0, 1_000.0]) {
            sample.push(time);
        }
        assert_eq!(
            (round.p90(|_| true), round.p90(|at| at == 0)),
            (1_000.0, 5.0)
        );
    }
}
