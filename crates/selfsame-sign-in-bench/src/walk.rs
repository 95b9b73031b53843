//! One sign-in under way: the calls that were answered, and the pause before the next one.

use std::time::Duration;

use selfsame_bench::Error;
use tokio::time::{Instant, sleep_until};

use crate::round::{TimedCall, WalkedSignIn};

/// The pace of a user: calls begin at least this far apart, as with JMeter's Constant Throughput Timer.
pub struct UserPace {
    next: Instant,
    apart: Duration,
}

impl UserPace {
    /// A pace whose first call is now.
    pub fn new(apart: Duration) -> Self {
        let next = Instant::now();
        Self { next, apart }
    }

    /// Waits until the next call is due.
    async fn due(&mut self) {
        sleep_until(self.next).await;
        self.next = self.next.max(Instant::now()) + self.apart;
    }
}

/// A sign-in under way.
pub struct SignInWalk<'a> {
    calls: Vec<TimedCall>,
    pace: Option<&'a mut UserPace>,
}

impl<'a> SignInWalk<'a> {
    /// A sign-in at this pace, or without pauses.
    pub fn new(pace: Option<&'a mut UserPace>) -> Self {
        Self {
            calls: Vec::new(),
            pace,
        }
    }

    /// Waits until the next call is due.
    pub async fn due(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.due().await;
        }
    }

    /// A call was answered as it should be.
    pub fn answered(&mut self, call: TimedCall) {
        self.calls.push(call);
    }

    /// The end.
    pub fn ended(self, end: Result<(), Error>) -> WalkedSignIn {
        WalkedSignIn {
            calls: self.calls,
            failed: end.err(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_user_who_is_late_does_not_hurry_afterwards() {
        let began = Instant::now();
        let mut pace = UserPace::new(Duration::from_secs(1));
        let mut walk = SignInWalk::new(Some(&mut pace));
        let mut at = Vec::new();
        for takes in [0, 5, 0, 0] {
            walk.due().await;
            at.push(began.elapsed().as_secs());
            tokio::time::sleep(Duration::from_secs(takes)).await;
        }
        assert_eq!(at, [0, 1, 6, 7]);
    }
}
