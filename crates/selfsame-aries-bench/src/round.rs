//! What a number of scenarios gave: the times of each call, and what failed.

use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use tokio::task::JoinSet;

use crate::scenario::Walked;

/// The number of calls of a scenario.
pub const CALLS: usize = 14;

/// The result of one round.
#[derive(Default)]
pub struct Round {
    /// The times of each call.
    pub steps: [Sample; CALLS],
    /// How many times each call failed.
    pub failed_at: [usize; CALLS],
    /// The scenarios that were finished.
    pub finished: usize,
    /// Why the first call failed that did.
    pub why: Option<String>,
}

impl Round {
    /// Adds a scenario.
    pub fn add(&mut self, walked: Walked) {
        let at = walked.times.len();
        for (sample, time) in self.steps.iter_mut().zip(walked.times) {
            sample.add(time);
        }
        let Some(error) = walked.failed else {
            self.finished += 1;
            return;
        };
        self.why.get_or_insert(error.to_string());
        // What follows the last call of the table belongs to it.
        if let Some(failed) = self.failed_at.get_mut(at.min(CALLS - 1)) {
            *failed += 1;
        }
    }

    /// The number of calls that were answered.
    pub fn calls(&self) -> usize {
        self.steps.iter().map(Sample::len).sum()
    }

    /// The number of calls that failed. Each ends its scenario.
    pub fn failed(&self) -> usize {
        self.failed_at.iter().sum()
    }

    /// The figure of the calls that failed, of which there must be none.
    pub fn errors(&self, name: impl Into<String>) -> Figure {
        let figure = Figure::new(name, self.failed() as f64, "").bar(Bar::AtMost(0.0));
        match &self.why {
            Some(why) => figure.note(why.clone()),
            None => figure,
        }
    }

    /// Waits for users, each of whom goes through some scenarios. `ended` is told of each scenario.
    pub async fn of(mut users: JoinSet<Vec<Walked>>, ended: impl Fn()) -> Self {
        let mut round = Self::default();
        while let Some(walked) = users.join_next().await {
            for walked in walked.unwrap_or_default() {
                round.add(walked);
                ended();
            }
        }
        round
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use selfsame_bench::Error;

    use super::*;

    fn walked(calls: usize, failed: Option<&str>) -> Walked {
        Walked {
            times: vec![Duration::from_millis(3); calls],
            failed: failed.map(|why| Error::Server(why.to_owned())),
            cred_ex_id: String::new(),
        }
    }

    #[test]
    fn a_failure_counts_at_the_call_that_failed() {
        let mut round = Round::default();
        round.add(walked(14, None));
        round.add(walked(3, Some("not ready")));
        round.add(walked(14, Some("not revoked")));
        assert_eq!((round.finished, round.failed(), round.calls()), (1, 2, 31));
        assert_eq!((round.failed_at[3], round.failed_at[13]), (1, 1));
        let errors = round.errors("errors_20");
        assert_eq!((errors.value, errors.holds), (2.0, Some(false)));
        assert!(errors.note.unwrap().contains("not ready"));
    }
}
