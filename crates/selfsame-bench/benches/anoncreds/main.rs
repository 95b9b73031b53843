//! Compares ours with the published AnonCreds library, alternating for each operation: `cargo xtask bench anoncreds`.
#![allow(
    clippy::disallowed_macros,
    clippy::print_stdout,
    reason = "a bench prints what it found"
)]

mod compare;
#[path = "../../../selfsame-anoncreds/tests/oracle/ours.rs"]
mod ours;
#[path = "../../../selfsame-anoncreds/tests/oracle/party.rs"]
mod party;
#[path = "../../../selfsame-anoncreds/tests/oracle/rig.rs"]
mod rig;
mod scene;

use std::process::ExitCode;

use compare::{Comparison, Plan, compare};
use ours::Ours;
use rig::Wheel;
use scene::Operation;
use selfsame_bench::machine::BenchMachine;
use selfsame_bench::report::{Bar, Figure, Report};
use selfsame_crypto::{ctx::Ctx, time::UnixTime};

const USAGE: &str =
    "cargo xtask bench anoncreds [--quick] [--json] [--adx | --portable] [--only NAME]";

/// The options of the command line.
#[derive(Default)]
struct Choice {
    quick: bool,
    json: bool,
    adx: bool,
    portable: bool,
    only: Option<String>,
}

fn main() -> ExitCode {
    let Some(choice) = Choice::parse(std::env::args().skip(1)) else {
        eprintln!("usage: {USAGE}");
        return ExitCode::from(2);
    };
    if choice.portable {
        selfsame_anoncreds::force_portable();
    } else if choice.adx {
        selfsame_anoncreds::force_adx();
    }
    let report = measure(&choice);
    if choice.json {
        println!(
            "{}",
            serde_json::to_string(&report).expect("a report is JSON")
        );
    } else {
        for line in report.table() {
            println!("{line}");
        }
    }
    ExitCode::from(u8::from(!report.holds()))
}

impl Choice {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut choice = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => choice.quick = true,
                "--json" => choice.json = true,
                "--adx" => choice.adx = true,
                "--portable" => choice.portable = true,
                "--only" => choice.only = Some(words.next()?),
                // Cargo adds this flag.
                "--bench" => {}
                _ => return None,
            }
        }
        Some(choice)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.contains(only))
    }
}

fn measure(choice: &Choice) -> Report {
    let plan = if choice.quick {
        Plan::QUICK
    } else {
        Plan::FULL
    };
    let folder = tempfile::tempdir().expect("a folder for tails files");
    let mut wheel = Wheel::start();
    let mut ours = Ours::new();
    let ifma = selfsame_anoncreds::uses_ifma();
    let mut figures = Vec::new();
    let mut warm = Vec::new();
    for operation in scene::operations(&mut wheel, folder.path()) {
        if !choice.wants(operation.name) {
            continue;
        }
        let found = compare(&mut wheel, Some(&mut ours), &operation, plan);
        let bar = if ifma {
            operation.bar_ifma
        } else {
            operation.bar_portable
        };
        figures.extend(lines(&operation, &found, "", bar));
        if operation.cold {
            let found = compare(&mut wheel, None, &operation, plan);
            figures.extend(lines(&operation, &found, "_cold", Some(1.0)));
        }
        warm.push((operation.name, found));
    }
    let bar = ifma.then_some(4.0);
    figures.extend(parts(&warm, bar));
    if choice.only.is_none() {
        figures.extend(tables(&ours));
    }
    Report {
        bench: if ifma {
            "anoncreds, IFMA"
        } else if selfsame_anoncreds::uses_adx() {
            "anoncreds, BMI2 and ADX"
        } else {
            "anoncreds, portable path"
        },
        machine: BenchMachine::this(),
        quick: choice.quick,
        tables: Vec::new(),
        figures,
    }
}

/// Three figures of an operation: our speed relative to the library, and the time of each.
fn lines(operation: &Operation, found: &Comparison, ending: &str, bar: Option<f64>) -> [Figure; 3] {
    let name = format!("{}{ending}", operation.name);
    let milliseconds = |whose: &str, sample: &selfsame_bench::statistics::Sample| {
        Figure::new(format!("{name}_{whose}"), sample.median(), "ms").spread(spread(sample))
    };
    let library = milliseconds("library", &found.library);
    [
        ratio(&name, &found.ratios(), bar),
        milliseconds("ours", &found.ours),
        match operation.study_ms {
            Some(study_ms) if ending.is_empty() => library.study(study_ms),
            _ => library,
        },
    ]
}

fn ratio(name: &str, ratios: &selfsame_bench::statistics::Sample, bar: Option<f64>) -> Figure {
    let figure = Figure::new(name, ratios.median(), "times").spread(spread(ratios));
    match bar {
        Some(bar) => figure.bar(Bar::AtLeast(bar)),
        None => figure,
    }
}

/// The interquartile range: half of all rounds lie within it.
fn spread(sample: &selfsame_bench::statistics::Sample) -> f64 {
    sample.quantile(0.75) - sample.quantile(0.25)
}

/// The memory of ten definitions in one cache, each with all its tables: the growth of the process, and the cache's own
/// count.
fn tables(ours: &Ours) -> [Figure; 2] {
    let before = resident_bytes();
    let cache = ours
        .ten_definitions()
        .expect("definitions that were used can be used");
    let grown = resident_bytes().saturating_sub(before);
    let megabytes = |name, bytes: u64| Figure::new(name, bytes as f64 / 1e6, "MB");
    [
        megabytes("tables_mb_10", grown)
            .bar(Bar::AtMost(64.0))
            .note(
                "five attributes each, every other one revocable; resident memory that they added",
            ),
        megabytes("tables_mb_10_counted", cache.bytes() as u64)
            .bar(Bar::AtMost(64.0))
            .note("at most, as the cache counts"),
    ]
}

/// The resident memory of this process, in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes: u64 = kilobytes
        .and_then(|number| number.parse().ok())
        .expect("a number");
    kilobytes * 1024
}

/// The cost of non-revocation in a predicate's presentation and verification, by subtraction round by round.
fn parts(warm: &[(&str, Comparison)], bar: Option<f64>) -> Vec<Figure> {
    let found = |name: String| {
        warm.iter()
            .find(|(other, _)| *other == name)
            .map(|(_, found)| found)
    };
    let part = |verb: &str| {
        let with = found(format!("{verb}_non_revoked"))?;
        let without = found(format!("{verb}_predicate"))?;
        let ratios = with.without(without).ratios();
        Some(ratio(&format!("{verb}_non_revocation_part"), &ratios, bar))
    };
    ["present", "verify"].into_iter().filter_map(part).collect()
}

/// A fixed time, with fresh randomness.
fn ctx() -> Ctx {
    Ctx::new(
        UnixTime(1_700_000_000),
        selfsame_crypto::seal::random_seed(),
    )
}
