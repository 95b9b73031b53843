//! A description of this machine, for the head of a report.

use std::fmt;

use serde::Serialize;

/// The machine a bench ran on.
#[derive(Clone, Debug, Serialize)]
pub struct BenchMachine {
    /// The processor's name.
    pub processor: String,
    /// The number of cores that this process may use.
    pub cores: usize,
    /// The memory, in MB.
    pub memory_mb: u64,
    /// The kernel's version.
    pub kernel: String,
}

impl BenchMachine {
    /// Describes this machine, as far as it can be determined.
    #[must_use]
    pub fn this() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let processor = read("/proc/cpuinfo")
            .lines()
            .find_map(|line| line.strip_prefix("model name"))
            .and_then(|rest| rest.split_once(':'))
            .map_or_else(
                || std::env::consts::ARCH.to_owned(),
                |(_, name)| name.trim().to_owned(),
            );
        let memory_kb: u64 = read("/proc/meminfo")
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|number| number.parse().ok())
            .unwrap_or(0);
        Self {
            processor,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mb: memory_kb / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

impl fmt::Display for BenchMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} cores, {} MB, Linux {}",
            self.processor, self.cores, self.memory_mb, self.kernel
        )
    }
}
