//! The one place that reads the time and draws seeds; steps get both through `Ctx`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;

/// The instance's clock; tests move it. Clones are the same clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    ahead: Arc<AtomicI64>,
    passed: Arc<AtomicI64>,
}

impl Clock {
    /// Seconds since the epoch.
    #[expect(clippy::disallowed_methods, reason = "the one reading of the clock")]
    pub fn now(&self) -> UnixTime {
        let real = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs());
        UnixTime(real.saturating_add_signed(self.ahead.load(Ordering::Relaxed)))
    }

    /// Seconds that have passed since the machine started, those in which it slept among them. Setting the clock does
    /// not change them (`CLOCK_BOOTTIME`, clock_gettime(2)).
    pub fn passed(&self) -> u64 {
        let passed = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let passed = u64::try_from(passed.tv_sec).unwrap_or(0);
        passed.saturating_add_signed(self.passed.load(Ordering::Relaxed))
    }

    /// When the machine started, by the clock as it is set now.
    pub fn started(&self) -> UnixTime {
        UnixTime(self.now().0.saturating_sub(self.passed()))
    }

    /// Lets this time pass, so that tests need not wait.
    pub fn advance(&self, seconds: u64) {
        self.set_ahead(seconds);
        self.passed
            .fetch_add(seconds.cast_signed(), Ordering::Relaxed);
    }

    /// Sets this clock ahead, as a machine's may be: the time does not pass.
    pub fn set_ahead(&self, seconds: u64) {
        self.ahead
            .fetch_add(seconds.cast_signed(), Ordering::Relaxed);
    }

    /// Sets this clock back, as a machine's may be.
    pub fn set_back(&self, seconds: u64) {
        self.ahead
            .fetch_sub(seconds.cast_signed(), Ordering::Relaxed);
    }

    /// Time and randomness for one run of a step.
    pub fn ctx(&self) -> Ctx {
        Ctx::new(self.now(), selfsame_crypto::seal::random_seed())
    }
}
