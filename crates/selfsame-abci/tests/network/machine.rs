//! The share of the machine that other processes use while a test measures: only that may excuse a slow test.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::load::Figures;

/// The interval at which processes are listed. A process that lives for less is missed, and counts as another's.
const LOOKED_EVERY: Duration = Duration::from_millis(200);
/// The share that others use on a machine that is otherwise idle: the system, and the program that runs the test.
const QUIET: f64 = 0.25;
/// The maximum factor by which a bar is widened.
const MOST: u32 = 4;

/// A machine under observation.
pub struct Watch {
    stop: Arc<AtomicBool>,
    watching: JoinHandle<f64>,
}

/// The share of the machine's processors that other processes used, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Others(f64);

/// Ticks of all processors since the machine started, and of this test's processes.
struct Seen {
    all: u64,
    busy: u64,
    own: u64,
}

impl Watch {
    pub fn begin() -> Self {
        let stop = Arc::<AtomicBool>::default();
        let stopped = stop.clone();
        let watching = std::thread::spawn(move || {
            let mut known = BTreeMap::new();
            let begun = Seen::now(&mut known);
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(LOOKED_EVERY);
                Seen::now(&mut known);
            }
            begun.others_until(&Seen::now(&mut known))
        });
        Self { stop, watching }
    }

    pub fn end(self) -> Others {
        self.stop.store(true, Ordering::Relaxed);
        Others(self.watching.join().unwrap())
    }
}

impl Others {
    /// Widens a bar for an idle machine to one for this machine. If others use part of the processors, equal work takes
    /// longer in proportion, and the disk is no faster either. So the bar also grows by the delay of an undisturbed
    /// network before and after the fault. If others use none, the bar stays, however slow the network is.
    pub fn widened(self, bar: Duration, undisturbed: [&Figures; 2]) -> Duration {
        let Self(share) = self;
        if share <= QUIET {
            return bar;
        }
        let slower = undisturbed.map(Figures::slower_than_free).into_iter().max();
        let left = (1.0 - share).max(1.0 / f64::from(MOST));
        (bar.div_f64(left) + slower.unwrap_or_default() * 4).min(bar * MOST)
    }
}

impl Seen {
    /// Lists all processes, and records the ticks of this one and its descendants.
    fn now(known: &mut BTreeMap<u32, u64>) -> Self {
        let mut running = Vec::new();
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let stat = std::fs::read_to_string(process.path().join("stat"));
            running.extend(stat.ok().as_deref().and_then(Process::parse));
        }
        let me = std::process::id();
        loop {
            let before = known.len();
            for process in &running {
                let own = process.id == me
                    || known.contains_key(&process.id)
                    || known.contains_key(&process.parent);
                if own {
                    known.insert(process.id, process.ticks);
                }
            }
            if known.len() == before {
                break;
            }
        }
        let (all, busy) = processors(&std::fs::read_to_string("/proc/stat").unwrap());
        Self {
            all,
            busy,
            own: known.values().sum(),
        }
    }

    fn others_until(&self, later: &Self) -> f64 {
        let all = (later.all - self.all).max(1);
        // The kernel counts these ticks in different places: one count may be ahead of the other.
        let busy = later.busy.saturating_sub(self.busy);
        let others = busy.saturating_sub(later.own.saturating_sub(self.own));
        others as f64 / all as f64
    }
}

struct Process {
    id: u32,
    parent: u32,
    ticks: u64,
}

impl Process {
    /// Parses a line of `/proc/<id>/stat` (proc_pid_stat(5)). The name, in parentheses, may contain spaces and
    /// parentheses.
    fn parse(line: &str) -> Option<Self> {
        let (before, after) = (line.split_once(' ')?, line.rsplit_once(')')?);
        let fields: Vec<&str> = after.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            id: before.0.parse().ok()?,
            parent: number(1)?.try_into().ok()?,
            ticks: number(11)? + number(12)?,
        })
    }
}

/// All ticks, and those in which a processor was busy or was used by another machine, from the first line of
/// `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal.
fn processors(stat: &str) -> (u64, u64) {
    let line = stat.lines().next().unwrap();
    let ticks = line.split_whitespace().skip(1).take(8);
    let ticks: Vec<u64> = ticks.map(|ticks| ticks.parse().unwrap()).collect();
    let all = ticks.iter().sum();
    (all, all - ticks[3] - ticks[4])
}

#[test]
fn processes_and_processors_are_read_as_the_kernel_writes_them() {
    let line = "77 (a) b (c)) S 5 77 77 0 -1 4194560 1 2 3 4 250 50 9 9 20 0 1 0 100";
    let process = Process::parse(line).unwrap();
    assert_eq!((process.id, process.parent, process.ticks), (77, 5, 300));
    assert!(Process::parse("").is_none());
    let stat = "cpu  10 20 30 400 50 1 2 3 7 8\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
    assert_eq!(processors(stat), (516, 66));
}

#[test]
fn what_this_test_has_begun_is_its_own_also_once_it_has_ended() {
    let mut known = BTreeMap::new();
    let begun = Seen::now(&mut known);
    let mut child = std::process::Command::new("sh")
        .args(["-c", "sh -c 'while :; do :; done' & echo $!; wait"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let used = |known: &mut BTreeMap<u32, u64>| Seen::now(known).own - begun.own;
    while used(&mut known) < 20 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let grandchild: u32 = line.trim().parse().unwrap();
    assert!(known.contains_key(&grandchild));
    let kill = std::process::Command::new("kill")
        .args(["-KILL", line.trim()])
        .status();
    assert!(kill.unwrap().success());
    child.wait().unwrap();
    assert!(used(&mut known) >= 20);
}

#[test]
fn only_what_others_take_excuses_and_never_more_than_fourfold() {
    let bar = Duration::from_secs(3);
    let (quick, slow) = (Figures::of_p99(100), Figures::of_p99(1_300));
    let widened = |share, by: [&Figures; 2]| Others(share).widened(bar, by).as_millis();
    // On an idle machine, a slow network has no excuse.
    assert_eq!(widened(0.0, [&slow, &slow]), 3_000);
    assert_eq!(widened(QUIET, [&slow, &slow]), 3_000);
    assert_eq!(widened(0.5, [&quick, &quick]), 6_000);
    assert_eq!(widened(0.5, [&quick, &slow]), 10_000);
    assert_eq!(widened(0.95, [&quick, &quick]), 12_000);
    assert_eq!(widened(0.95, [&slow, &slow]), 12_000);
}
