//! What becomes of a delivery after an attempt, and when it is tried again.

use selfsame_crypto::ctx::Ctx;
use selfsame_driver::Reason;
use selfsame_net::{NetError, Response};

use crate::delivery::{Delivery, DeliveryState};

/// How long a delivery is tried, in seconds: three days.
pub(crate) const GIVEN_UP_AFTER: u64 = 3 * 86_400;
/// The pause after the first failure, in seconds. It grows fourfold with each further one.
const FIRST_PAUSE: u64 = 5;
/// The longest pause, in seconds: six hours.
const LONGEST_PAUSE: u64 = 6 * 3_600;
/// The longest pause between two attempts at an endpoint that does not respond, in seconds.
const ENDPOINT_PAUSE_MAX: u64 = 300;

/// The result of an attempt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Attempted {
    /// The receiver has confirmed it (2xx).
    Delivered,
    /// The receiver wants no more messages (410).
    Gone,
    /// The attempt failed.
    Failed(FailedAttempt),
}

/// Why an attempt failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FailedAttempt {
    /// The reason, for the operator.
    pub reason: Reason,
    /// How long the receiver asks to wait, in seconds.
    pub retry_after: Option<u64>,
    /// Whether other messages would fail too: nothing answered, or the receiver has too much to do.
    pub is_outage: bool,
}

impl Attempted {
    /// The result of an attempt that was not made: what is to be sent can't be read, or may not be sent there.
    pub fn unmade(reason: Reason) -> Self {
        Self::Failed(FailedAttempt {
            reason,
            retry_after: None,
            is_outage: false,
        })
    }

    /// The result of a call ("Delivery success and failure").
    pub fn of(answer: Result<Response, NetError>) -> Self {
        match answer {
            Ok(response) if response.is_success() => Self::Delivered,
            Ok(Response { status: 410, .. }) => Self::Gone,
            Ok(response) => Self::Failed(FailedAttempt {
                reason: Reason::new("webhook-status").with("status", &response.status),
                retry_after: response.retry_after,
                is_outage: response.status == 429 || response.status >= 500,
            }),
            Err(error) => Self::Failed(FailedAttempt {
                reason: Reason::new("webhook-unanswered").with("detail", &error.public_reason()),
                retry_after: None,
                is_outage: true,
            }),
        }
    }
}

impl Delivery {
    /// Notes a failed attempt: it is sent again later, or given up.
    pub fn fail(&mut self, failed: &FailedAttempt, ctx: &Ctx) {
        self.attempts = self.attempts.saturating_add(1);
        self.last = Some(failed.reason.clone());
        let pause = pause(self.attempts, FIRST_PAUSE, 4, LONGEST_PAUSE);
        let pause = pause.max(failed.retry_after.unwrap_or(0).min(LONGEST_PAUSE));
        self.next = ctx.now().plus(jittered(pause, ctx));
        if ctx.now().seconds_since(self.since) >= GIVEN_UP_AFTER {
            self.state = DeliveryState::Failed;
        }
    }
}

/// How long nothing is sent to an endpoint after this many failures in a row, in seconds.
pub(crate) fn endpoint_pause(failures: u32, retry_after: Option<u64>, ctx: &Ctx) -> u64 {
    let pause = pause(failures, 1, 2, ENDPOINT_PAUSE_MAX);
    let asked = retry_after.unwrap_or(0).min(LONGEST_PAUSE);
    jittered(pause.max(asked), ctx)
}

/// The pause after this many failures: it grows by a factor from the first to the longest.
fn pause(failures: u32, first: u64, factor: u64, longest: u64) -> u64 {
    let growth = factor.saturating_pow(failures.saturating_sub(1));
    first.saturating_mul(growth).min(longest)
}

/// A pause that is up to a fifth longer, so that deliveries that failed together are not repeated together.
fn jittered(seconds: u64, ctx: &Ctx) -> u64 {
    seconds.saturating_add(ctx.below("webhook/jitter", (seconds / 5).saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;

    use super::*;
    use crate::delivery::ToldEvent;
    use crate::event_type::EventType;

    fn failed(retry_after: Option<u64>) -> FailedAttempt {
        FailedAttempt {
            reason: Reason::new("webhook-gone"),
            retry_after,
            is_outage: false,
        }
    }

    fn delivery() -> Delivery {
        let told = ToldEvent {
            event_type: EventType::WebhookTest,
            subject: "s".to_owned(),
            at: UnixTime(0),
            cursor: None,
            notice: None,
            trace: None,
        };
        told.to("e", UnixTime(0))
    }

    #[test]
    fn a_delivery_that_always_fails_is_tried_with_growing_pauses_for_three_days_and_then_given_up()
    {
        let mut delivery = delivery();
        let (mut now, mut pauses) = (0, Vec::new());
        while delivery.state == DeliveryState::Pending {
            let ctx = Ctx::new(
                UnixTime(now),
                [u8::try_from(delivery.attempts).unwrap(); 32],
            );
            delivery.fail(&failed(None), &ctx);
            pauses.push(delivery.next.0 - now);
            now = delivery.next.0;
        }
        assert!((5..=6).contains(&pauses[0]), "{pauses:?}");
        assert!((20..=24).contains(&pauses[1]), "{pauses:?}");
        assert!(pauses.iter().all(|pause| *pause <= LONGEST_PAUSE * 6 / 5));
        assert!((12..40).contains(&pauses.len()), "{pauses:?}");
        assert!(now >= GIVEN_UP_AFTER);
    }

    #[test]
    fn a_receiver_that_asks_for_a_longer_wait_gets_it_but_not_for_ever() {
        let ctx = Ctx::new(UnixTime(0), [1; 32]);
        let mut asked = delivery();
        asked.fail(&failed(Some(900)), &ctx);
        assert!((900..=1_080).contains(&asked.next.0));
        let mut exaggerated = delivery();
        exaggerated.fail(&failed(Some(u64::MAX)), &ctx);
        assert!(exaggerated.next.0 <= LONGEST_PAUSE * 6 / 5);
    }
}
