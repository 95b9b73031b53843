//! The study's Table III with more columns, and the processor and memory of each agent.

use selfsame_bench::report::FigureTable;
use selfsame_bench::statistics::Sample;

use crate::AriesBench;
use crate::round::Round;
use crate::stage::AgentUsage;
use crate::study::{self, STEPS};

/// The columns of the calls.
const CALL_COLUMNS: [&str; 12] = [
    "calls",
    "mean",
    "median",
    "p95",
    "p99",
    "min",
    "max",
    "calls/s",
    "errors",
    "study: mean",
    "study: min",
    "study: max",
];

/// The columns of the agents.
const AGENT_COLUMNS: [&str; 4] = ["CPU %", "memory, MB", "most memory, MB", "study: CPU %"];

/// What a table is about.
pub struct TableSubject<'a> {
    /// Whose calls they are, for people, such as `20 users`.
    pub whose: &'a str,
    /// The column of the study's table, if it has one.
    pub users: Option<usize>,
    /// How long it took.
    pub seconds: f64,
}

impl AriesBench<'_> {
    /// Adds the table of the calls of a round.
    pub fn tell_calls(&mut self, told: &TableSubject<'_>, round: &Round) {
        let title = match self.prefix {
            "" => format!("{}: response time of each call, ms", told.whose),
            _ => format!(
                "Foreign agents, {}: response time of each call, ms",
                told.whose
            ),
        };
        let mut table = FigureTable::new(title, &CALL_COLUMNS);
        let mut all = Sample::default();
        let failed = round.failed_at.iter().copied();
        for (step, ((name, sample), failed)) in
            STEPS.iter().zip(&round.steps).zip(failed).enumerate()
        {
            let of_study = told.users.and_then(|users| study::response(step, users));
            let mut cells = cells(sample, failed, told.seconds);
            cells.extend([
                of_study.map(|study| study.mean),
                of_study.map(|study| study.least),
                of_study.map(|study| study.most),
            ]);
            table.row(*name, &cells);
            all.extend(sample);
        }
        let mut cells = cells(&all, round.failed(), told.seconds);
        cells.extend([None, None, None]);
        table.row("all calls", &cells);
        self.tables.push(table);
    }

    /// Adds the table of the agents' processes, if they are processes of this machine.
    pub fn tell_agents(&mut self, told: &TableSubject<'_>, used: &[AgentUsage]) {
        if used.is_empty() {
            return;
        }
        let title = format!("{}: each process", told.whose);
        let mut table = FigureTable::new(title, &AGENT_COLUMNS);
        for one in used {
            let of_study = told.users.and_then(|users| study::cpu(one.name, users));
            let cpu = one.usage.cpu_s / told.seconds * 100.0;
            let cells = [
                Some(cpu),
                Some(one.usage.rss_mb),
                Some(one.usage.peak_mb),
                of_study,
            ];
            table.row(one.name, &cells);
        }
        self.tables.push(table);
    }
}

/// Our own columns of a call.
fn cells(sample: &Sample, failed: usize, seconds: f64) -> Vec<Option<f64>> {
    let cells = [
        sample.len() as f64,
        sample.mean(),
        sample.median(),
        sample.quantile(0.95),
        sample.quantile(0.99),
        sample.quantile(0.0),
        sample.quantile(1.0),
        sample.len() as f64 / seconds,
        failed as f64,
    ];
    cells.map(Some).into()
}
