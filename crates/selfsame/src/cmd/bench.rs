//! `selfsame bench`: benchmarks, on a server of its own.

mod aries;
mod signin;
mod wallet;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use selfsame_app::tls::Gatherer;
use selfsame_bench::chart::{self, Chart};
use selfsame_bench::process::Program;
use selfsame_bench::registry::Parts;
use selfsame_bench::report::Report;
use selfsame_bench::{Error, Progress, oid4vc, organisations, registry, tls};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store_bench::StorePlan;
use selfsame_study::{LifePlan, measure_life};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::or_interrupted;
use selfsame_terminal::master_key::{self, Custody};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress as Bar;
use selfsame_tls::{HandshakeNeed, evidence as tls_evidence};
use selfsame_tls_commands::node::resolving;
use selfsame_tls_io::Gather as _;
use url::Url;

use crate::settings::HOOKS;
use aries::AriesBench;
use signin::SignInBench;
use wallet::WalletBench;

/// How often a TLS end tries to resolve a DID at the registry, and the pause between tries.
const TRIES: usize = 5;
const BREATH: Duration = Duration::from_millis(100);

/// Run benchmarks.
#[derive(Args)]
#[command(after_help = "Example: selfsame bench oid4vc --quick --json
Exit code 0 if every target is met, 1 if not.")]
pub struct Bench {
    #[command(subcommand)]
    verb: BenchVerb,
}

#[derive(Subcommand)]
enum BenchVerb {
    #[command(flatten)]
    Measure(What),
    /// One end of `tls`, in a separate process.
    #[command(hide = true)]
    TlsEnd(TlsEnd),
}

#[derive(Subcommand)]
enum What {
    /// Issuance and verification over OpenID4VC, compared with the figures of the walt.id study.
    #[command(after_help = "Example: selfsame bench oid4vc --quick --out report")]
    Oid4vc(BenchSettings),
    /// Credentials over DIDComm by the admin API, compared with the figures of the Aries study.
    Aries(AriesBench),
    /// Sign-ins by eSignet's interface and by OpenID Connect, compared with the figures of eSignet's study.
    Signin(SignInBench),
    /// Writes to the registry, and reads with proofs.
    #[command(after_help = "Example: selfsame bench registry --quick --json")]
    Registry {
        /// Only the registry in one process, or only that of four validators.
        #[arg(long, value_enum)]
        only: Option<Part>,
        #[command(flatten)]
        settings: BenchSettings,
    },
    /// One credential from its offer to its refusal, and what goes on while each process is killed.
    #[command(after_help = "Example: selfsame bench life --quick --json")]
    Life(BenchSettings),
    /// Many organisations on one instance, offers by thousands, and webhooks.
    #[command(after_help = "Example: selfsame bench organisations --quick --json")]
    Organisations(BenchSettings),
    /// The store: SQLite beside PostgreSQL, one process beside three, millions of records.
    #[command(
        after_help = "Example: selfsame bench store --database postgres://selfsame@localhost/bench --quick
The database is one for tests on this machine. Schemas are made in it, and dropped at the end."
    )]
    Store {
        /// A PostgreSQL database, as postgres://USER@HOST/DATABASE.
        #[arg(
            long,
            value_name = "URL",
            env = "SELFSAME_DATABASE",
            hide_env_values = true
        )]
        database: String,
        /// How many records to load [default: 2000000, or 200000 with --quick].
        #[arg(long, value_name = "COUNT")]
        records: Option<NonZeroUsize>,
        #[command(flatten)]
        settings: BenchSettings,
    },
    /// A credential book: claims through six issuers, proofs, a direct load and searches, compared with the figures of the
    /// study of TheOrgBook's wallet.
    Wallet(WalletBench),
    /// TLS handshakes by certificate, credential and DID, compared with rustls, OpenSSL and the paper.
    #[command(after_help = "Example: selfsame bench tls --quick --out report
Only `cargo xtask bench tls` includes OpenSSL.")]
    Tls {
        /// A program that plays one end with OpenSSL; `cargo xtask bench tls` builds it.
        #[arg(long, value_name = "PROGRAM")]
        openssl: Option<PathBuf>,
        #[command(flatten)]
        settings: BenchSettings,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// One process.
    Embedded,
    /// Four validators on this machine; requires CometBFT.
    Network,
}

#[derive(Args, Clone)]
struct TlsEnd {
    /// The file of all identities.
    #[arg(long)]
    world: PathBuf,
    /// The server's port; without it, this is the server.
    #[arg(long)]
    port: Option<u16>,
    /// The registry's node.
    #[arg(long)]
    registry: Url,
}

#[derive(Args)]
struct BenchSettings {
    /// Measure the same figures within a minute, with fewer repetitions.
    #[arg(long)]
    quick: bool,
    /// Measure each figure once, as short as it can be, to see that the bench runs. The figures mean nothing.
    #[arg(long, hide = true, conflicts_with = "quick")]
    trial: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Write a page with charts, and the figures and charts as JSON, into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Bench {
    /// Measures and prints.
    pub async fn run(self) -> End {
        match self.verb {
            BenchVerb::Measure(what) => or_interrupted(what.run()).await,
            BenchVerb::TlsEnd(end) => {
                let played = tokio::task::spawn_blocking(move || end.play()).await;
                played.map_err(|error| Failure::ours(error.to_string()))?
            }
        }
    }
}

impl What {
    async fn run(self) -> End {
        let program = Program {
            executable: std::env::current_exe()?,
            arguments: Vec::new(),
            cores: None,
        };
        let settings = match &self {
            Self::Oid4vc(settings)
            | Self::Life(settings)
            | Self::Organisations(settings)
            | Self::Aries(AriesBench { settings, .. })
            | Self::Signin(SignInBench { settings, .. })
            | Self::Wallet(WalletBench { settings, .. })
            | Self::Registry { settings, .. }
            | Self::Store { settings, .. }
            | Self::Tls { settings, .. } => settings,
        };
        settings.prepare()?;
        let scratch = tempfile::tempdir()?;
        let bars = Bars::default();
        let measured = self.measure(&program, scratch.path(), &bars).await;
        bars.clear();
        let (report, charts) = measured.map_err(failed)?;
        settings.tell(&report, &charts)
    }

    async fn measure(
        &self,
        program: &Program,
        scratch: &Path,
        bars: &Bars,
    ) -> Result<(Report, Vec<Chart>), Error> {
        match self {
            Self::Oid4vc(settings) => {
                let plan = settings.plan(oid4vc::Oid4vcPlan::LENGTHS);
                let found = oid4vc::run(program, plan, scratch, bars).await?;
                Ok((found.report, found.charts))
            }
            Self::Life(settings) => {
                let plan = settings.plan(LifePlan::LENGTHS);
                let report = measure_life(program, plan, scratch, bars).await;
                report.map(|report| (report, Vec::new()))
            }
            Self::Organisations(settings) => {
                let plan = settings.plan(organisations::OrganisationsPlan::LENGTHS);
                let report = organisations::run(program, plan, scratch, bars).await?;
                Ok((report, Vec::new()))
            }
            Self::Aries(bench) => bench.measure(program, scratch, bars).await,
            Self::Signin(bench) => bench.measure(program, scratch, bars).await,
            Self::Wallet(bench) => bench.measure(program, scratch, bars).await,
            Self::Registry { only, settings } => {
                let plan = registry::RegistryPlan {
                    parts: only.map_or(Parts::Both, Part::parts),
                    ..settings.plan(registry::RegistryPlan::LENGTHS)
                };
                let report = registry::run(program, plan, scratch, bars).await?;
                Ok((report, Vec::new()))
            }
            Self::Store {
                database,
                records,
                settings,
            } => {
                let plan = settings.plan(StorePlan::LENGTHS);
                let records = records.map_or(plan.records, NonZeroUsize::get);
                let plan = plan.with_records(records);
                let target = selfsame_store_bench::Target {
                    program,
                    database,
                    master_key: &left_by_a_server,
                    scratch,
                };
                let report = selfsame_store_bench::run(target, plan, bars).await?;
                Ok((report, Vec::new()))
            }
            Self::Tls { openssl, settings } => {
                let plan = settings.plan(tls::TlsPlan::LENGTHS);
                let tools = tls::Tools {
                    program,
                    openssl: openssl.as_deref(),
                    scratch,
                };
                let found = tls::run(tools, plan, bars).await?;
                Ok((found.report, found.charts))
            }
        }
    }
}

impl TlsEnd {
    /// This thread alone makes the handshakes and the calls to the registry.
    fn play(&self) -> End {
        selfsame_terminal::log::start();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let gatherer = runtime.block_on(resolving(self.registry.clone(), HOOKS))?;
        let resolve = |need: &HandshakeNeed, now| runtime.block_on(asked(&gatherer, need, now));
        tls::end::play(&self.world, self.port, &resolve).map_err(failed)?;
        Ok(Answer::Yes)
    }
}

/// The registry's answer. If the registry does not answer in time because the machine is busy, tries again; the
/// measured time includes that.
async fn asked(
    gatherer: &Gatherer,
    need: &HandshakeNeed,
    now: UnixTime,
) -> tls_evidence::NeedAnswer {
    for _ in 1..TRIES {
        let answer = gatherer.gather(need, now).await;
        if !matches!(&answer, tls_evidence::NeedAnswer::Did(_, found) if found.value.is_err()) {
            return answer;
        }
        tokio::time::sleep(BREATH).await;
        gatherer.forget(need);
    }
    gatherer.gather(need, now).await
}

impl Part {
    fn parts(self) -> Parts {
        match self {
            Self::Embedded => Parts::Embedded,
            Self::Network => Parts::Network,
        }
    }
}

impl BenchSettings {
    /// The plan for the length that was chosen, of the three in this order: trial, short, whole.
    fn plan<T>(&self, [trial, quick, full]: [T; 3]) -> T {
        let shorter = [(self.trial, trial), (self.quick, quick)];
        let chosen = shorter.into_iter().find(|(is_asked, _)| *is_asked);
        chosen.map_or(full, |(_, plan)| plan)
    }

    /// Creates the directory for the page, so that an error shows before hours of measuring.
    fn prepare(&self) -> Result<(), Failure> {
        let Some(directory) = &self.out else {
            return Ok(());
        };
        std::fs::create_dir_all(directory)
            .and_then(|()| tempfile::tempfile_in(directory).map(drop))
            .map_err(|error| unwritten(directory, &error))
    }

    /// Prints the results before writing the page, so that they are not lost if the page can't be written.
    fn tell(&self, report: &Report, charts: &[Chart]) -> End {
        output::either(self.json, report, |report| report.table());
        if let Some(directory) = &self.out {
            let page = directory.join(format!("{}.html", report.bench));
            std::fs::write(&page, chart::page(report, charts))
                .map_err(|error| unwritten(&page, &error))?;
            let figures = directory.join(format!("{}.json", report.bench));
            std::fs::write(&figures, chart::json(report, charts)?)
                .map_err(|error| unwritten(&figures, &error))?;
        }
        Ok(if report.holds() {
            Answer::Yes
        } else {
            Answer::No
        })
    }
}

/// The master key that a server has left in its data directory.
fn left_by_a_server(data: &Path) -> Result<SealingKey, Error> {
    let loaded = master_key::load(&Custody::BesideTheData, data);
    loaded.map_err(|failure| Error::Server(failure.message().to_owned()))
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
        .hint("--out must name a writable directory")
}

fn failed(error: Error) -> Failure {
    match error {
        Error::Machine(error) => Failure::environment(error.to_string()),
        Error::Server(_) | Error::Call { .. } => Failure::ours(error.to_string()),
    }
}

/// Progress on the terminal.
#[derive(Default)]
struct Bars(Mutex<Option<Bar>>);

impl Bars {
    fn clear(&self) {
        if let Ok(mut bar) = self.0.lock() {
            *bar = None;
        }
    }
}

impl Progress for Bars {
    fn begin(&self, part: &str, steps: u64) {
        self.clear();
        if let Ok(mut shown) = self.0.lock() {
            *shown = Some(Bar::of(false, steps).named(part));
        }
    }

    fn advance(&self, steps: u64) {
        if let Ok(bar) = self.0.lock()
            && let Some(bar) = bar.as_ref()
        {
            bar.advance(steps);
        }
    }
}
