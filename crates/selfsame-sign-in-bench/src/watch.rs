//! What the processes use, second by second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selfsame_bench::chart::Line;
use selfsame_bench::process::{Usage, usage};
use tokio::task::AbortHandle;
use tokio::time::interval;

use crate::clock::now;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);

/// A process to watch.
#[derive(Clone, Copy)]
pub struct WatchedProcess {
    /// What it is.
    pub name: &'static str,
    /// Its identifier.
    pub id: u32,
}

/// A watch over processes; dropping it ends it.
pub struct ProcessWatch {
    seen: Arc<Mutex<Vec<SeenProcess>>>,
    task: AbortHandle,
}

/// What was seen of a process.
struct SeenProcess {
    process: WatchedProcess,
    /// Processor in percent of one core, by seconds.
    cpu: Vec<(f64, f64)>,
    /// Memory in MB, by seconds.
    memory: Vec<(f64, f64)>,
    last: Usage,
}

impl ProcessWatch {
    /// Watches these from now on.
    pub fn begin(processes: &[WatchedProcess]) -> Self {
        let seen = processes.iter().map(|process| SeenProcess {
            process: *process,
            cpu: Vec::new(),
            memory: Vec::new(),
            last: usage(process.id),
        });
        let seen = Arc::new(Mutex::new(seen.collect::<Vec<_>>()));
        let task = tokio::spawn(watch(seen.clone())).abort_handle();
        Self { seen, task }
    }

    /// The processor of each process, in percent of one core by seconds.
    pub fn cpu(&self) -> Vec<Line> {
        self.lines(|seen| seen.cpu.clone())
    }

    /// The memory of each process, in MB by seconds.
    pub fn memory(&self) -> Vec<Line> {
        self.lines(|seen| seen.memory.clone())
    }

    fn lines(&self, points: impl Fn(&SeenProcess) -> Vec<(f64, f64)>) -> Vec<Line> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |seen: &SeenProcess| Line {
            name: seen.process.name.to_owned(),
            points: points(seen),
        };
        seen.iter().map(line).collect()
    }
}

impl Drop for ProcessWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn watch(seen: Arc<Mutex<Vec<SeenProcess>>>) {
    let began = now();
    let mut last = 0.0;
    let mut ticks = interval(EVERY);
    // The first tick is at once.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let at = began.elapsed().as_secs_f64();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        for one in seen.iter_mut() {
            let used = usage(one.process.id);
            let cpu = (used.cpu_s - one.last.cpu_s) / (at - last) * 100.0;
            one.cpu.push((at, cpu));
            one.memory.push((at, used.rss_mb));
            one.last = used;
        }
        last = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_that_is_watched_shows_its_memory() {
        let id = std::process::id();
        let watch = ProcessWatch::begin(&[WatchedProcess { name: "this", id }]);
        while watch.memory().iter().all(|line| line.points.is_empty()) {
            tokio::task::yield_now().await;
        }
        let lines = watch.memory();
        assert_eq!(lines[0].name, "this");
        assert!(lines[0].points[0].1 > 1.0);
    }
}
