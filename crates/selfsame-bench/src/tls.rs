//! `tls`: handshakes by certificate, credential and DID between two processes, beside rustls' and the paper's.

mod alone;
pub mod end;
mod figures;
pub mod model;
mod ours;
mod pair;
mod theirs;
pub mod world;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::machine::Machine;
use crate::process::Program;
use crate::report::{Figure, Report};
use crate::statistics::Sample;
use crate::{Error, Progress};
use end::{Order, Stack};
use figures::Found;
use ours::Ours;
use pair::Pair;
use world::{Kind, World};

/// The bench's name.
pub const NAME: &str = "tls";

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Whether this is the short run.
    pub quick: bool,
    /// Identities of a side, of which each handshake draws one.
    pub identities: usize,
    /// Handshakes of a cell in a round.
    pub handshakes: u64,
    /// Rounds, in each of which every cell has its turn.
    pub rounds: u64,
    /// Measurements of what is measured in one process.
    pub checks: u64,
    /// Connections that are held open at once; the figure is of 5,000.
    pub idle: u64,
}

impl Plan {
    /// The figures that are quoted.
    pub const FULL: Self = Self {
        quick: false,
        identities: 10_000,
        handshakes: 100,
        rounds: 10,
        checks: 1_000,
        idle: 5_000,
    };

    /// The same figures within a minute.
    pub const QUICK: Self = Self {
        quick: true,
        identities: 40,
        handshakes: 10,
        rounds: 4,
        checks: 40,
        idle: 250,
    };
}

/// How one side proves who it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By a chain of three certificates.
    X509,
    /// By a verifiable credential.
    Vc,
    /// By a DID.
    Did,
}

impl Way {
    /// As in the paper's tables.
    pub const ALL: [Self; 3] = [Self::X509, Self::Vc, Self::Did];

    /// Its name in figures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X509 => "x509",
            Self::Vc => "vc",
            Self::Did => "did",
        }
    }
}

/// How both sides prove who they are.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Cell {
    /// The server.
    pub server: Way,
    /// The client, if it does.
    pub client: Option<Way>,
}

/// The ten cells of the paper.
const CELLS: [(Way, Option<Way>); 10] = [
    (Way::X509, None),
    (Way::Vc, None),
    (Way::Did, None),
    (Way::X509, Some(Way::X509)),
    (Way::Vc, Some(Way::Vc)),
    (Way::Did, Some(Way::Did)),
    (Way::X509, Some(Way::Vc)),
    (Way::X509, Some(Way::Did)),
    (Way::Vc, Some(Way::X509)),
    (Way::Did, Some(Way::X509)),
];

/// Who meets in a handshake. Both ends draw the same, so that each knows whom it wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Draw {
    /// The server's place among its side.
    pub server: usize,
    /// The client's.
    pub client: usize,
}

impl Draw {
    /// The draw of this number among so many identities a side.
    #[must_use]
    pub fn nth(seed: u64, number: u64, size: usize) -> Self {
        let at = |which: u64| {
            let place = mixed(seed ^ number.wrapping_mul(2).wrapping_add(which));
            usize::try_from(place % (size.max(1) as u64)).unwrap_or(0)
        };
        Self {
            server: at(0),
            client: at(1),
        }
    }
}

/// The step of SplitMix64: every number gives another that looks like chance.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What the bench found.
#[derive(Debug)]
pub struct Outcome {
    /// The figures.
    pub report: Report,
    /// The model's estimates laid over what was measured.
    pub charts: Vec<Chart>,
}

/// Runs the whole bench, its identities in files below `scratch`.
///
/// # Errors
/// If a process can't be started, or a handshake fails.
pub fn run(
    program: &Program,
    plan: Plan,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    let mut figures = Vec::new();
    let mut charts = Vec::new();
    let mut worst = Vec::new();
    for kind in Kind::ALL {
        let found = measure(program, plan, (kind, scratch), progress)?;
        figures.extend(found.figures(kind));
        charts.extend(found.charts(kind));
        worst.push(found.beside_rustls());
        if let Some(grown) = found.idle_mb {
            figures.push(figures::idle(grown, plan));
        }
    }
    figures.push(figures::beside_rustls(&worst));
    figures.extend(flights()?);
    let report = Report {
        bench: NAME,
        machine: Machine::this(),
        quick: plan.quick,
        figures,
    };
    Ok(Outcome { report, charts })
}

fn flights() -> Result<[Figure; 2], Error> {
    let (vc, did) = alone::flights()?;
    Ok(figures::flights(vc, did))
}

/// All of one algorithm.
fn measure(
    program: &Program,
    plan: Plan,
    (kind, scratch): (Kind, &Path),
    progress: &dyn Progress,
) -> Result<Found, Error> {
    progress.begin(&format!("{} identities", kind.name()), 1);
    let world = World::make(kind, plan.identities, end::now())?;
    let file = scratch.join(format!("{}.json", kind.name()));
    world.write(&file)?;
    progress.advance(1);
    let mut found = Found {
        verification: alone::verification(&world, plan.checks)?,
        ..Found::default()
    };
    let ours = Ours::new(&world)?;
    for way in Way::ALL {
        let draws = (plan.checks, plan.identities);
        let sample = alone::processing(&ours, way, draws)?;
        found.processing.insert(way, sample);
    }
    let mut pair = Pair::start(program, &file)?;
    progress.begin(&format!("{} handshakes", kind.name()), plan.rounds);
    // One order of each before any is counted: code and memory are warm then.
    round(&mut pair, &mut Found::default(), (3, 0))?;
    for number in 0..plan.rounds {
        round(&mut pair, &mut found, (plan.handshakes, mixed(number)))?;
        progress.advance(1);
    }
    // Once, with the algorithm of the paper's fastest handshakes.
    if kind == Kind::Ecdsa {
        let cell = Cell {
            server: Way::Did,
            client: Some(Way::Did),
        };
        let order = Order {
            stack: Stack::Ours,
            cell,
            count: plan.idle,
            seed: 5,
            hold: true,
        };
        found.idle_mb = Some(pair.follow(&order)?.grown_mb);
    }
    Ok(found)
}

/// A turn of each cell.
fn round(pair: &mut Pair, found: &mut Found, (count, seed): (u64, u64)) -> Result<(), Error> {
    for (server, client) in CELLS {
        let cell = Cell { server, client };
        for stack in [Stack::Ours, Stack::Rustls] {
            if stack == Stack::Rustls
                && (server, client.unwrap_or(server)) != (Way::X509, Way::X509)
            {
                continue;
            }
            let order = Order {
                stack,
                cell,
                count,
                seed,
                hold: false,
            };
            let outcome = pair.follow(&order)?;
            let times = match stack {
                Stack::Ours => &mut found.ours,
                Stack::Rustls => &mut found.rustls,
            };
            add(times, cell, &outcome.nanoseconds);
            if stack == Stack::Ours {
                found.sent.insert(cell, outcome.sent);
            }
        }
    }
    Ok(())
}

fn add(times: &mut BTreeMap<Cell, Sample>, cell: Cell, nanoseconds: &[u64]) {
    let sample = times.entry(cell).or_default();
    for nanoseconds in nanoseconds {
        sample.push(*nanoseconds as f64 / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_same_for_both_ends_and_reach_everybody() {
        let drawn: Vec<Draw> = (0..400).map(|number| Draw::nth(7, number, 8)).collect();
        assert_eq!(drawn[3], Draw::nth(7, 3, 8));
        for place in 0..8 {
            assert!(drawn.iter().any(|draw| draw.server == place));
            assert!(drawn.iter().any(|draw| draw.client == place));
        }
        assert!(drawn.iter().all(|draw| draw.server < 8 && draw.client < 8));
        assert!(drawn.iter().any(|draw| draw.server != draw.client));
    }
}
