//! What is needed: processes, cores, memory and storage, and the assumptions that they rest on.

use serde::Serialize;

use super::demand::SizeDemand;
use super::figures::SizeFigures;

/// The fewest processes of a provider: one goes on when the other fails.
const PROCESSES_MIN: u64 = 2;
/// The sign-ins under way of the figure `rss_mb_5000`.
const MANY: f64 = 5_000.0;
/// The calls of a sign-in that wait for the identity system.
const DELEGATED: f64 = 3.0;
/// The memory of a database beside its records, in MB.
const DATABASE_MB: f64 = 1_024.0;
/// The records on the disk beside what is measured of them: free pages, the log of writes, the next backup.
const DISK_FACTOR: f64 = 2.0;
const MB: f64 = 1e6;
const GB: f64 = 1e9;

/// One kind of process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizePart {
    /// How many of them.
    pub processes: u64,
    /// The cores of all together.
    pub cores: u64,
    /// The memory of all together, in MB.
    pub memory_mb: f64,
}

/// What is needed.
#[derive(Clone, Debug, Serialize)]
pub struct SizePlan {
    /// What was asked for.
    pub demand: SizeDemand,
    /// Where the figures are from.
    pub measured_on: String,
    /// The sign-ins in a second, on average over the busiest hour.
    pub sign_ins_s: f64,
    /// The same at its busiest moment.
    pub peak_sign_ins_s: f64,
    /// The requests in a second at that moment.
    pub peak_requests_s: f64,
    /// The sign-ins that wait for the identity system at that moment.
    pub under_way: f64,
    /// The providers, with one to spare.
    pub providers: SizePart,
    /// The database.
    pub database: SizePart,
    /// The records on the disk, in GB.
    pub records_gb: f64,
    /// The logs on the disk, in GB.
    pub logs_gb: f64,
    /// What was assumed.
    pub assumptions: Vec<String>,
}

impl SizePlan {
    /// What this demand needs, by these figures.
    #[must_use]
    pub fn of(demand: &SizeDemand, figures: &SizeFigures) -> Self {
        let sign_ins_s = demand.sign_ins_s();
        let peak = sign_ins_s * demand.burst;
        let cpu_ms = demand.average(|flow| figures.cpu_ms(flow.figure()));
        let busy = peak * cpu_ms / 1e3 / (demand.busy_percent / 100.0);
        let under_way = peak * DELEGATED * demand.identity_ms / 1e3;
        let providers = providers(demand, figures, ProviderLoad { busy, under_way });
        let people_now = demand.people as f64 * demand.peak_percent / 100.0;
        let hot_mb = people_now * figures.stored_bytes * DISK_FACTOR / MB;
        let database = SizePart {
            processes: 1,
            cores: whole(providers.cores as f64 * demand.database_percent / 100.0),
            memory_mb: (DATABASE_MB + hot_mb).ceil(),
        };
        let kept = demand.people as f64 * demand.parties * figures.stored_bytes;
        let logged = demand.people as f64 * demand.sign_ins_year / 365.0 * demand.log_days;
        Self {
            demand: demand.clone(),
            measured_on: figures.source.clone(),
            sign_ins_s: tenths(sign_ins_s),
            peak_sign_ins_s: tenths(peak),
            peak_requests_s: tenths(peak * demand.requests()),
            under_way: under_way.ceil(),
            providers,
            database,
            records_gb: tenths(kept * DISK_FACTOR / GB),
            logs_gb: tenths(logged * figures.log_bytes / GB),
            assumptions: assumptions(demand, figures, cpu_ms),
        }
    }

    /// The plan as lines for people.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let row = |name: &str, part: &SizePart| {
            let SizePart {
                processes,
                cores,
                memory_mb,
            } = part;
            format!("  {name:<10} {processes:>9} {cores:>7} {memory_mb:>11}")
        };
        let mut lines = vec![
            format!(
                "{} sign-ins a second in the busiest hour, {} at its busiest moment: {} requests a second.",
                self.sign_ins_s, self.peak_sign_ins_s, self.peak_requests_s
            ),
            format!(
                "{} sign-ins wait for the identity system at that moment.",
                self.under_way
            ),
            String::new(),
            format!(
                "  {:<10} {:>9} {:>7} {:>11}",
                "", "processes", "cores", "memory, MB"
            ),
            row("providers", &self.providers),
            row("database", &self.database),
            String::new(),
            format!(
                "Storage: {} GB of records, {} GB of logs.",
                self.records_gb, self.logs_gb
            ),
            String::new(),
            format!("Measured on {}.", self.measured_on),
            "Assumptions:".to_owned(),
        ];
        lines.extend(self.assumptions.iter().map(|one| format!("  - {one}")));
        lines
    }
}

/// The load of all providers together.
#[derive(Clone, Copy)]
struct ProviderLoad {
    /// The cores that are wanted.
    busy: f64,
    /// The sign-ins under way.
    under_way: f64,
}

/// The providers' processes. The load has room in all but one of them.
fn providers(demand: &SizeDemand, figures: &SizeFigures, load: ProviderLoad) -> SizePart {
    let each = f64::from(demand.process_cores.max(1));
    let working = whole(load.busy / each);
    let processes = working.saturating_add(1).max(PROCESSES_MIN);
    let sign_in_mb = (figures.rss_mb_5000 - figures.rss_mb).max(0.0) / MANY;
    let memory_mb = figures.rss_mb + load.under_way / working as f64 * sign_in_mb;
    SizePart {
        processes,
        cores: processes.saturating_mul(demand.process_cores.into()),
        memory_mb: (memory_mb * processes as f64).ceil(),
    }
}

fn assumptions(demand: &SizeDemand, figures: &SizeFigures, cpu_ms: f64) -> Vec<String> {
    let flows = demand.flows.iter();
    let flows = flows.map(|share| format!("{} % {}", share.percent, share.flow.name()));
    vec![
        format!(
            "{} people, {} % of whom sign in within the busiest hour, each once; its busiest moment has {} times the hour's average",
            demand.people, demand.peak_percent, demand.burst
        ),
        format!(
            "flows: {}; a sign-in takes {} ms of a provider's processor on the machine of the measurement",
            flows.collect::<Vec<_>>().join(", "),
            tenths(cpu_ms)
        ),
        format!(
            "cores are {} % busy at the busiest moment, a process has {} of them, and the load has room without one of the processes",
            demand.busy_percent, demand.process_cores
        ),
        format!(
            "a provider takes {} MB, and {} MB with 5,000 sign-ins under way; a sign-in waits {} times {} ms for the identity system",
            figures.rss_mb, figures.rss_mb_5000, DELEGATED, demand.identity_ms
        ),
        format!(
            "a person signs in to {} relying parties, and what stays of each is {} bytes; the disk has room for {} times that",
            demand.parties, figures.stored_bytes, DISK_FACTOR
        ),
        format!(
            "{} sign-ins of a person in a year, {} bytes of log each, kept for {} days",
            demand.sign_ins_year, figures.log_bytes, demand.log_days
        ),
        format!(
            "the database takes {} % of the providers' cores, which is not measured; its memory is 1 GB and the records of the people of the busiest hour",
            demand.database_percent
        ),
        "the identity system, a load balancer and spare databases come on top".to_owned(),
    ]
}

/// The next whole number, at least one.
fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of cores"
    )]
    let whole = number.ceil().max(1.0) as u64;
    whole
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests;
