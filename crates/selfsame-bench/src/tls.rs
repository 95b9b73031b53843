//! `tls`: handshakes with certificates, credentials and DIDs between two processes, compared with rustls, OpenSSL and
//! the paper.

mod alone;
pub mod cell;
mod clock;
mod curves;
pub mod end;
mod figures;
pub mod model;
mod node;
pub mod ours;
mod pair;
mod study;
mod theirs;
pub mod world;

use std::path::{Path, PathBuf};

use crate::chart::Chart;
use crate::machine::BenchMachine;
use crate::process::Program;
use crate::report::{Figure, Report};
use crate::statistics::Sample;
use crate::{Error, Progress};
use cell::{Cell, Deck, Draw, Lookup, Way, mixed};
use end::{EndOrder, Stack};
use figures::{AlgorithmFigures, MUTUAL, Others};
use node::{Served, WritingNode};
use ours::Ours;
use pair::{Pair, Player};
use world::{KeyKind, World};

/// The bench's name.
pub const NAME: &str = "tls";
/// The subcommand of the measured program that plays an end.
pub const COMMAND: [&str; 2] = ["bench", "tls-end"];

/// Handshakes of each cell before any is counted, which warm up code and memory.
const WARM_UP: u64 = 3;
/// The number of handshakes in each half of a pair.
const PAIRED: usize = 10;

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct TlsPlan {
    /// Whether this is the short run.
    pub quick: bool,
    /// The number of identities on each side; each handshake draws one.
    pub identities: usize,
    /// The number of handshakes of a cell in a round.
    pub handshakes: u64,
    /// The number of rounds; each cell has a turn in each round.
    pub rounds: u64,
    /// The number of measurements within one process.
    pub checks: u64,
    /// The number of connections held open at once; the figure is scaled to 5,000.
    pub idle: u64,
}

impl TlsPlan {
    /// The paper's number of identities on each side.
    pub const IDENTITIES: usize = 10_000;

    /// The plan of the published figures.
    pub const FULL: Self = Self {
        quick: false,
        identities: Self::IDENTITIES,
        handshakes: 100,
        rounds: 10,
        checks: 1_000,
        idle: 5_000,
    };

    /// The figures of the full run, within a minute. There are enough identities for each to be looked up once with a
    /// cold cache.
    pub const QUICK: Self = Self {
        quick: true,
        identities: 120,
        handshakes: 4,
        rounds: 3,
        checks: 20,
        idle: 250,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        identities: 30,
        handshakes: 3,
        rounds: 1,
        checks: 3,
        idle: 20,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];
}

/// The programs and files of a run.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// The measured program.
    pub program: &'a Program,
    /// A program that plays an end with OpenSSL, if there is one.
    pub openssl: Option<&'a Path>,
    /// A directory for identities and the registry.
    pub scratch: &'a Path,
}

/// The results of the bench.
#[derive(Debug)]
pub struct TlsOutcome {
    /// The figures.
    pub report: Report,
    /// Charts of the model's estimates over the measured times.
    pub charts: Vec<Chart>,
}

/// Runs the whole bench.
///
/// # Errors
/// If a process can't be started, or a handshake fails.
pub async fn run(
    tools: Tools<'_>,
    plan: TlsPlan,
    progress: &dyn Progress,
) -> Result<TlsOutcome, Error> {
    let mut figures = Vec::new();
    let mut charts = Vec::new();
    let mut beside = Vec::new();
    for kind in KeyKind::ALL {
        let found = AlgorithmBench::measure(tools, plan, kind, progress).await?;
        figures.extend(found.figures(kind, plan));
        charts.extend(found.charts(kind));
        beside.push(found.beside());
        if let Some(grown) = found.idle_mb {
            figures.push(figures::idle(grown, plan));
        }
    }
    figures.extend(figures::beside(&beside));
    figures.extend(flights()?);
    for (name, signatures) in alone::post_quantum(plan.checks)? {
        figures.extend(figures::signatures(name, &signatures));
    }
    let report = Report {
        bench: NAME,
        machine: BenchMachine::this(),
        quick: plan.quick,
        figures,
        tables: Vec::new(),
    };
    Ok(TlsOutcome { report, charts })
}

fn flights() -> Result<[Figure; 2], Error> {
    let (vc, did) = alone::flights()?;
    Ok(figures::flights(vc, did))
}

/// The measurement of one algorithm.
struct AlgorithmBench {
    plan: TlsPlan,
    ours: Pair,
    openssl: Option<Pair>,
    deck: Deck,
    found: AlgorithmFigures,
}

impl AlgorithmBench {
    async fn measure(
        tools: Tools<'_>,
        plan: TlsPlan,
        kind: KeyKind,
        progress: &dyn Progress,
    ) -> Result<AlgorithmFigures, Error> {
        let data = tools.scratch.join("registry");
        let (world, file) = populate(tools, plan, kind, progress).await?;
        let served = Served::start(tools.program, &data).await?;
        let found = AlgorithmFigures {
            signatures: alone::signatures(&world, plan.checks)?,
            ..AlgorithmFigures::default()
        };
        let mut bench = Self {
            plan,
            ours: Pair::start(&player(tools.program, &file, &served))?,
            openssl: match tools.openssl {
                Some(executable) => Some(Pair::start(&Player {
                    executable: executable.to_owned(),
                    arguments: vec!["--world".into(), file.into()],
                    environment: Vec::new(),
                })?),
                None => None,
            },
            deck: Deck::default(),
            found,
        };
        bench.alone(&world)?;
        drop(world);
        progress.begin(&format!("{} handshakes", kind.name()), plan.rounds);
        let counted = std::mem::take(&mut bench.found);
        bench.round(&warm_up(plan))?;
        bench.found = counted;
        for draws in rounds(plan) {
            bench.round(&draws)?;
            progress.advance(1);
        }
        // Measured once, with the algorithm of the paper's fastest handshakes.
        if kind == KeyKind::Ecdsa {
            bench.idle()?;
        }
        Ok(bench.found)
    }

    /// Measures everything that needs one process only.
    fn alone(&mut self, world: &World) -> Result<(), Error> {
        let nobody = |need: &selfsame_tls::HandshakeNeed, now| {
            let failure = selfsame_tls::evidence::Failure::Unavailable;
            selfsame_tls::evidence::NeedAnswer::failed(need.clone(), failure, now)
        };
        let ours = Ours::new(world, &nobody)?;
        let draws = checks(self.plan);
        let cached = Way::ALL.map(|way| (way, Lookup::Cached));
        let stapled = [Lookup::Stapled, Lookup::StapledUnknown];
        let stapled = stapled.map(|lookup| Way::WITH_DID.map(|way| (way, lookup)));
        for (way, lookup) in cached.into_iter().chain(stapled.into_iter().flatten()) {
            let sample = alone::processing(&ours, way, lookup, &draws)?;
            self.found.processing.insert((lookup, way), sample);
        }
        Ok(())
    }

    /// Gives each cell a turn.
    fn round(&mut self, draws: &[Draw]) -> Result<(), Error> {
        for cell in Cell::ALL {
            self.turns(Lookup::Cached, cell, draws)?;
            if cell.is_x509() {
                self.others(cell, draws)?;
            }
        }
        for lookup in Lookup::BESIDE {
            for cell in Cell::ALL.into_iter().filter(|cell| !cell.is_x509()) {
                match lookup {
                    Lookup::Cold => {
                        let fresh = self.deck.draw(draws.len(), self.plan.identities);
                        self.turns(lookup, cell, &fresh)?;
                    }
                    _ => self.turns(lookup, cell, draws)?,
                }
            }
        }
        Ok(())
    }

    /// Handshakes with a ratio to certificates take turns with them, a few at a time, so that other work on the machine
    /// affects both. The two take turns at going first.
    fn turns(&mut self, lookup: Lookup, cell: Cell, draws: &[Draw]) -> Result<(), Error> {
        if cell.is_x509() || cell.client != Some(cell.server) {
            return self.turn(lookup, cell, draws).map(drop);
        }
        for (number, few) in draws.chunks(PAIRED).enumerate() {
            let (theirs, ours) = match number % 2 {
                0 => (self.original(few)?, self.turn(lookup, cell, few)?),
                _ => {
                    let ours = self.turn(lookup, cell, few)?;
                    (self.original(few)?, ours)
                }
            };
            let pairs = self.found.pairs.entry((lookup, cell)).or_default();
            pairs.push(ours.median() / theirs.median());
        }
        Ok(())
    }

    /// Handshakes with certificates, with which others are compared.
    fn original(&mut self, draws: &[Draw]) -> Result<Sample, Error> {
        let (server, _) = self.ours.follow(&order(Stack::Ours, MUTUAL, draws))?;
        Ok(milliseconds(&server.nanoseconds))
    }

    fn turn(&mut self, lookup: Lookup, cell: Cell, draws: &[Draw]) -> Result<Sample, Error> {
        let order = EndOrder {
            lookup,
            ..order(Stack::Ours, cell, draws)
        };
        let (server, client) = self.ours.follow(&order)?;
        let took = milliseconds(&server.nanoseconds);
        let all = self.found.ours.entry((lookup, cell)).or_default();
        all.extend(&took);
        if lookup == Lookup::Cold && cell.client.is_none() {
            let asking = milliseconds(&client.resolving);
            self.found.resolving.extend(&asking);
        }
        self.found.sent.insert((lookup, cell), server.sent);
        Ok(took)
    }

    /// Gives the other implementations a turn.
    fn others(&mut self, cell: Cell, draws: &[Draw]) -> Result<(), Error> {
        let (server, _) = self.ours.follow(&order(Stack::Rustls, cell, draws))?;
        self.found.rustls.add(cell, &server);
        if let Some(openssl) = &mut self.openssl {
            let (server, _) = openssl.follow(&order(Stack::Openssl, cell, draws))?;
            let found = self.found.openssl.get_or_insert_default();
            found.add(cell, &server);
        }
        Ok(())
    }

    fn idle(&mut self) -> Result<(), Error> {
        let draws = Draw::random(5, self.plan.idle, self.plan.identities);
        let order = EndOrder {
            hold: true,
            ..order(Stack::Ours, Cell::both(Way::Did, Way::Did), &draws)
        };
        let (server, _) = self.ours.follow(&order)?;
        self.found.idle_mb = Some(server.grown_mb);
        Ok(())
    }
}

impl Others {
    fn add(&mut self, cell: Cell, server: &end::EndOutcome) {
        let times = self.times.entry(cell).or_default();
        times.extend(&milliseconds(&server.nanoseconds));
        self.sent.insert(cell, server.sent);
    }
}

/// Creates the identities of one algorithm, registers them, and fetches the staples that are needed. Returns the world
/// and its file.
async fn populate(
    tools: Tools<'_>,
    plan: TlsPlan,
    kind: KeyKind,
    progress: &dyn Progress,
) -> Result<(World, PathBuf), Error> {
    let node = WritingNode::start(tools.program, &tools.scratch.join("registry")).await?;
    progress.begin(&format!("{} identities", kind.name()), 1);
    let mut world = World::make(kind, plan.identities, &node.genesis(), clock::now())?;
    progress.advance(1);
    node.register(&world, progress).await?;
    let mut drawn: Vec<Draw> = rounds(plan).flatten().collect();
    drawn.extend(warm_up(plan));
    drawn.extend(checks(plan));
    node.staple(&mut world, &drawn).await?;
    let file = tools.scratch.join(format!("{}.json", kind.name()));
    world.write(&file)?;
    Ok((world, file))
}

/// An end of our implementation, which asks the registry.
fn player(program: &Program, world: &Path, registry: &Served) -> Player {
    let told = ["--registry".into(), registry.origin().into()];
    let mut arguments: Vec<_> = COMMAND.map(Into::into).to_vec();
    arguments.extend(["--world".into(), world.into()]);
    arguments.extend(told);
    Player {
        executable: program.executable.clone(),
        arguments,
        // The roots that the system trusts, as for the client's other calls.
        environment: vec![("SSL_CERT_FILE", registry.certificate.clone().into())],
    }
}

fn order(stack: Stack, cell: Cell, draws: &[Draw]) -> EndOrder {
    EndOrder {
        stack,
        cell,
        lookup: Lookup::Cached,
        draws: draws.to_vec(),
        hold: false,
    }
}

/// The draws of each round.
fn rounds(plan: TlsPlan) -> impl Iterator<Item = Vec<Draw>> {
    (0..plan.rounds)
        .map(move |number| Draw::random(mixed(number), plan.handshakes, plan.identities))
}

fn warm_up(plan: TlsPlan) -> Vec<Draw> {
    Draw::random(0, WARM_UP, plan.identities)
}

/// The draws for measurements within one process.
fn checks(plan: TlsPlan) -> Vec<Draw> {
    Draw::random(9, plan.checks, plan.identities)
}

fn milliseconds(nanoseconds: &[u64]) -> Sample {
    let mut sample = Sample::default();
    for nanoseconds in nanoseconds {
        sample.push(*nanoseconds as f64 / 1e6);
    }
    sample
}
