//! The one place that reads the time and draws seeds; steps get both through `Ctx`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;

/// The file that systemd-timesyncd touches "on each successful synchronization" (systemd-timesyncd.service(8)). It does
/// not exist between the machine's start and the first synchronization.
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";
/// Seconds for which one synchronization is trusted. By default the next follows within 2,048 s (timesyncd.conf(5)).
const SYNCHRONIZED_FOR: u64 = 3_600;
/// The file with the kernel's id of this boot (random(4)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The instance's clock; tests can move it. All clones share one clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    ahead: Arc<AtomicI64>,
    passed: Arc<AtomicI64>,
    /// Number of simulated restarts of the machine in a test.
    starts: Arc<AtomicU64>,
    /// When a test simulated a time synchronization; 0 for never.
    synchronized: Arc<AtomicU64>,
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

    /// Seconds since the machine started, including time asleep. Setting the clock does not change them
    /// (`CLOCK_BOOTTIME`, clock_gettime(2)).
    pub fn passed(&self) -> u64 {
        let passed = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let passed = u64::try_from(passed.tv_sec).unwrap_or(0);
        passed.saturating_add_signed(self.passed.load(Ordering::Relaxed))
    }

    /// When the machine started, according to the clock's present setting.
    pub fn started(&self) -> UnixTime {
        UnixTime(self.now().0.saturating_sub(self.passed()))
    }

    /// Identifies the machine start that [`Self::passed`] counts from. `None` if it can't be read.
    pub fn machine_start(&self) -> Option<String> {
        let id = std::fs::read_to_string(BOOT_ID).ok()?;
        let starts = self.starts.load(Ordering::Relaxed);
        Some(format!("{} {starts}", id.trim()))
    }

    /// Whether a time server has set this clock recently. A clock that leapt since then does not count as set.
    pub fn is_synchronized(&self) -> bool {
        let touched = || std::fs::metadata(SYNCHRONIZED)?.modified();
        let since = |at: std::time::SystemTime| at.duration_since(std::time::UNIX_EPOCH);
        let last = match self.synchronized.load(Ordering::Relaxed) {
            0 => (touched().ok()).and_then(|at| Some(UnixTime(since(at).ok()?.as_secs()))),
            last => Some(UnixTime(last)),
        };
        let now = self.now();
        let parted = |last: UnixTime| now.seconds_since(last).max(last.seconds_since(now));
        last.is_some_and(|last| parted(last) <= SYNCHRONIZED_FOR)
    }

    /// Simulates a restart of the machine.
    pub fn start_machine(&self) {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let passed = self.passed().cast_signed();
        self.passed.fetch_sub(passed, Ordering::Relaxed);
    }

    /// Simulates a time synchronization.
    pub fn synchronize(&self) {
        self.synchronized.store(self.now().0, Ordering::Relaxed);
    }

    /// Lets `seconds` pass, so that tests need not wait.
    pub fn advance(&self, seconds: u64) {
        self.set_ahead(seconds);
        self.passed
            .fetch_add(seconds.cast_signed(), Ordering::Relaxed);
    }

    /// Sets this clock ahead without letting time pass.
    pub fn set_ahead(&self, seconds: u64) {
        self.ahead
            .fetch_add(seconds.cast_signed(), Ordering::Relaxed);
    }

    /// Sets this clock back without letting time pass.
    pub fn set_back(&self, seconds: u64) {
        self.ahead
            .fetch_sub(seconds.cast_signed(), Ordering::Relaxed);
    }

    /// Time and randomness for one run of a step.
    pub fn ctx(&self) -> Ctx {
        Ctx::new(self.now(), selfsame_crypto::seal::random_seed())
    }
}
