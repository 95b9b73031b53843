//! The study's table beside ours, and what each process used.

use selfsame_bench::report::FigureTable;

use crate::SignInBench;
use crate::round::SignInRound;
use crate::stage::ProcessUsage;
use crate::study::{CALLS, TABLE};

/// Our columns of the calls, and the study's beside them.
const CALL_COLUMNS: [&str; 12] = [
    "samples",
    "min",
    "average",
    "p90",
    "max",
    "errors %",
    "study: samples",
    "study: min",
    "study: average",
    "study: p90",
    "study: max",
    "study: errors %",
];

/// The columns of the processes.
const PROCESS_COLUMNS: [&str; 3] = ["CPU %", "memory, MB", "most memory, MB"];

/// The calls of a standard sign-in, in their order.
pub const STANDARD_CALLS: [&str; 5] = [
    "01_authorize",
    "02_sign_in",
    "03_consent",
    "04_token",
    "05_userinfo",
];

impl SignInBench<'_> {
    /// Adds the table of the study's calls of a round.
    pub fn tell_calls(&mut self, whose: &str, round: &SignInRound<7>) {
        let title = self.titled(&format!("{whose}: response time of each call, ms"));
        let mut table = FigureTable::new(title, &CALL_COLUMNS);
        for (at, (name, study)) in CALLS.iter().zip(TABLE).enumerate() {
            let cells = cells(round, at).into_iter().chain(study.map(Some));
            table.row(*name, &cells.collect::<Vec<_>>());
        }
        self.tables.push(table);
    }

    /// Adds the table of the calls of standard sign-ins.
    pub fn tell_standard(&mut self, whose: &str, round: &SignInRound<5>) {
        let title = self.titled(&format!("{whose}: response time of each call, ms"));
        let columns = CALL_COLUMNS.get(..6).unwrap_or_default();
        let mut table = FigureTable::new(title, columns);
        for (at, name) in STANDARD_CALLS.iter().enumerate() {
            table.row(*name, &cells(round, at));
        }
        self.tables.push(table);
    }

    /// Adds the table of the processes, if they are of this machine.
    pub fn tell_processes(&mut self, whose: &str, used: &[ProcessUsage], seconds: f64) {
        if used.is_empty() {
            return;
        }
        let title = self.titled(&format!("{whose}: each process"));
        let mut table = FigureTable::new(title, &PROCESS_COLUMNS);
        for ProcessUsage { name, usage } in used {
            let cpu = usage.cpu_s / seconds.max(f64::EPSILON) * 100.0;
            let cells = [cpu, usage.rss_mb, usage.peak_mb];
            table.row(*name, &cells.map(Some));
        }
        self.tables.push(table);
    }

    fn titled(&self, title: &str) -> String {
        match self.prefix {
            "" => title.to_owned(),
            _ => format!("Foreign provider, {title}"),
        }
    }
}

/// Our own columns of the call at this place.
fn cells<const N: usize>(round: &SignInRound<N>, at: usize) -> Vec<Option<f64>> {
    let (Some(sample), Some(failed)) = (round.calls.get(at), round.failed_at.get(at)) else {
        return Vec::new();
    };
    let failed = *failed as f64;
    let sent = sample.len() as f64 + failed;
    let cells = [
        sample.len() as f64,
        sample.quantile(0.0),
        sample.mean(),
        sample.quantile(0.9),
        sample.quantile(1.0),
        failed / sent.max(1.0) * 100.0,
    ];
    cells.map(Some).into()
}
