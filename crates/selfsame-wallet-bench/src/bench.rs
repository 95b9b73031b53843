//! The load test behind `selfsame bench wallet`: claims through six issuers into a credential book, and a book loaded directly.

mod claims;
mod loading;
mod names;
mod proofs;
mod remote;
mod searches;
mod site;
mod study;

use std::path::Path;

use selfsame_bench::chart::{Chart, Line};
use selfsame_bench::machine::BenchMachine;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Bar, Figure, Report};
use selfsame_bench::statistics::Sample;
use selfsame_bench::{Error, Progress};
use selfsame_store_bench::database::BenchDatabase;

use claims::{EnteredClaim, Walks};
use site::BookSite;

/// The bench's name.
pub const NAME: &str = "wallet";
/// The study's numbers of threads.
const THREADS: [usize; 2] = [1, 8];
/// The least part of the rate over an empty book that is kept over a full one.
const FLAT: f64 = 0.9;

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct WalletPlan {
    /// Whether this is the short run, with fewer and shorter measurements.
    pub quick: bool,
    /// How many businesses get their six permits, one after another and eight at once.
    pub businesses: [usize; 2],
    /// The number of proofs, one after another and eight at once each.
    pub proofs: usize,
    /// How many credentials are loaded directly.
    pub records: usize,
    /// How many rows of a remote wallet are loaded.
    pub rows: usize,
    /// How many credentials one organisation has beside them.
    pub many: usize,
    /// The number of searches of each kind.
    pub searches: usize,
}

impl WalletPlan {
    /// The study's amounts: 58 businesses are 348 claims, and its load was of two million.
    pub const FULL: Self = Self {
        quick: false,
        businesses: [58, 464],
        proofs: 348,
        records: 2_000_000,
        rows: 100_000,
        many: 10_000,
        searches: 1_000,
    };

    /// The same figures over fewer claims and credentials.
    pub const QUICK: Self = Self {
        quick: true,
        businesses: [6, 24],
        proofs: 40,
        records: 200_000,
        rows: 5_000,
        many: 10_000,
        searches: 300,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        businesses: [1, 8],
        proofs: 8,
        records: 500,
        rows: 200,
        many: 200,
        searches: 20,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];

    /// The plan with this many records, and with no more rows and credentials of one organisation.
    #[must_use]
    pub fn with_records(self, records: usize) -> Self {
        Self {
            records,
            rows: self.rows.min(records),
            many: self.many.min(records),
            ..self
        }
    }
}

/// What is measured, and where.
pub struct WalletRun<'a> {
    /// The program to start as the server.
    pub program: &'a Program,
    /// A PostgreSQL database for the records and the index of the book; without it they are in files.
    pub database: Option<&'a str>,
    /// The amount of each measurement.
    pub plan: WalletPlan,
    /// A directory for the data of the server.
    pub scratch: &'a Path,
}

/// The results of a run.
pub struct WalletFindings {
    /// The figures.
    pub report: Report,
    /// Charts for the page.
    pub charts: Vec<Chart>,
}

/// Runs the whole bench.
///
/// # Errors
/// If the server or the database can't be used, or a call fails that should succeed.
pub async fn run(run: WalletRun<'_>, progress: &dyn Progress) -> Result<WalletFindings, Error> {
    let mut bench = WalletBench {
        run,
        progress,
        figures: Vec::new(),
        charts: Vec::new(),
    };
    match bench.run.database {
        None => bench.measure("").await?,
        Some(url) => {
            let measured = BenchDatabase::during(url, async |database| {
                let url = database.address(&database.schema("wallet"));
                let settings = format!("[database]\nurl = {url:?}\nconnections = 9\n");
                bench.measure(&settings).await
            });
            measured.await?;
        }
    }
    Ok(bench.findings())
}

/// The state that the experiments share.
struct WalletBench<'a> {
    run: WalletRun<'a>,
    progress: &'a dyn Progress,
    figures: Vec<Figure>,
    charts: Vec<Chart>,
}

impl WalletBench<'_> {
    async fn measure(&mut self, settings: &str) -> Result<(), Error> {
        let data = self.run.scratch.join("book");
        let site = BookSite::start(self.run.program, &data, settings).await?;
        let plan = self.run.plan;
        let empty = self.flows(&site, "", 0).await?;
        let loaded = loading::load(&site, plan.records, self.progress).await?;
        self.push(
            Figure::new("load_s", loaded.rate, "credentials/s")
                .bar(Bar::AtLeast(5_000.0))
                .study(study::LOAD_S),
        );
        self.draw(loaded);
        let rows = remote::load(&site, plan.rows, self.progress).await?;
        let figure = Figure::new("remote_load_s", rows, "rows/s").study(study::LOAD_S);
        self.push(figure.note(format!("{} rows", plan.rows)));
        let full = self.flows(&site, "loaded_", 1).await?;
        for (name, ratio) in [
            (
                "flat_ratio",
                full.claims_s / empty.claims_s.max(f64::EPSILON),
            ),
            (
                "flat_ratio_proofs",
                full.proofs_s / empty.proofs_s.max(f64::EPSILON),
            ),
        ] {
            self.push(Figure::new(name, ratio, "").bar(Bar::AtLeast(FLAT)));
        }
        searches::measure(self, &site).await?;
        let rss = site.server.usage().rss_mb;
        self.push(Figure::new("rss_mb", rss, "MB"));
        Ok(())
    }

    /// Claims and proofs with both numbers of threads. The names of the figures begin with `prefix`.
    async fn flows(
        &mut self,
        site: &BookSite,
        prefix: &str,
        time: u64,
    ) -> Result<FlowRates, Error> {
        let plan = self.run.plan;
        let mut rates = FlowRates::default();
        let mut entered: Vec<EnteredClaim> = Vec::new();
        for ((threads, businesses), study) in THREADS
            .into_iter()
            .zip(plan.businesses)
            .zip(study::CLAIMS_S)
        {
            let walks = Walks {
                threads,
                businesses,
                first: first_business(time, threads),
            };
            let walked = claims::measure(site, walks, self.progress).await?;
            rates.claims_s = walked.rate;
            entered.extend(walked.entered);
            let name = format!("{prefix}claims_s_sd_jwt_{threads}");
            self.push(Figure::new(name, rates.claims_s, "claims/s").study(study));
        }
        for threads in THREADS {
            let proven = proofs::measure(site, &entered, threads, plan.proofs, self.progress);
            let proven = proven.await?;
            rates.proofs_s = proven.rate;
            self.push_proofs(prefix, threads, &proven.times);
            let name = format!("{prefix}proofs_s_{threads}");
            self.push(Figure::new(name, proven.rate, "proofs/s"));
        }
        Ok(rates)
    }

    fn push_proofs(&mut self, prefix: &str, threads: usize, times: &Sample) {
        if threads == 1 {
            let name = format!("{prefix}proof_mean_ms");
            let figure = Figure::new(name, times.mean(), "ms").spread(times.deviation());
            self.push(figure.study(study::PROOF_MS));
        }
        let name = match threads {
            1 => format!("{prefix}proof_p95_ms"),
            _ => format!("{prefix}proof_p95_ms_{threads}"),
        };
        self.push(Figure::new(name, times.quantile(0.95), "ms"));
    }

    fn push(&mut self, figure: Figure) {
        let plan = self.run.plan;
        self.figures
            .push(match plan.quick && figure.note.is_none() {
                true => figure.note(format!("{} credentials only", plan.records)),
                false => figure,
            });
    }

    fn draw(&mut self, loaded: loading::LoadedBook) {
        let line = |name: &str, points| Line {
            name: name.to_owned(),
            points,
        };
        let last = loaded.over.last().map_or(0.0, |(records, _)| *records);
        let study = vec![(0.0, study::LOAD_S), (last, study::LOAD_S)];
        self.charts.push(Chart {
            title: "Direct load, credentials a second".to_owned(),
            x: "credentials in the book".to_owned(),
            lines: vec![line("this program", loaded.over), line("study", study)],
        });
    }

    fn findings(self) -> WalletFindings {
        let report = Report {
            bench: NAME,
            machine: BenchMachine::this(),
            quick: self.run.plan.quick,
            figures: self.figures,
            tables: Vec::new(),
        };
        WalletFindings {
            report,
            charts: self.charts,
        }
    }
}

/// The rates with most threads.
#[derive(Default)]
struct FlowRates {
    claims_s: f64,
    proofs_s: f64,
}

/// Each measurement has businesses of its own.
const fn first_business(time: u64, threads: usize) -> u64 {
    (time * 10 + threads as u64) * 10_000
}
