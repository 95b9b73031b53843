//! `cargo xtask faults`: fault tests of a network of validators, with real processes, run several times in a row.

use std::process::Command;
use std::time::Instant;

use crate::engine;
use crate::workspace::{cargo, root};

const USAGE: &str = "usage: cargo xtask faults [--times N]";
/// What a round runs. Tests of networks run one at a time, since each has eight processes; each prints its figures.
const RUNS: &[Run] = &[
    Run {
        what: "nodes killed, cut off, slow, full, flooded, with wrong clocks, and what is handed to them",
        tests: &["--package", "selfsame-abci", "--test", "network"],
        only: &["--test-threads=1", "--nocapture"],
    },
    Run {
        what: "the commands and the scenarios of instances while nodes are shut down one by one",
        tests: &["--package", "selfsame", "--test", "network"],
        only: &["--test-threads=1"],
    },
    Run {
        what: "nodes that lie, fork or stand still, and altered copies",
        tests: &["--package", "selfsame-app", "--test", "registry"],
        only: &["nodes::", "archive::"],
    },
    Run {
        what: "an instance that is shown two histories",
        tests: &["--package", "selfsame", "--test", "e2e"],
        only: &["forks::"],
    },
    Run {
        what: "clocks and header times of our half",
        tests: &["--package", "selfsame-abci", "--lib"],
        only: &["times::"],
    },
    Run {
        what: "clocks and header times of the consensus on paper",
        tests: &["--package", "selfsame-testkit", "--lib"],
        only: &["consensus::"],
    },
];
/// Builds the example that the tests start as a node.
const NODE: &[&str] = &["build", "--package", "selfsame-abci", "--example", "node"];

/// One group of tests in a round.
struct Run {
    what: &'static str,
    tests: &'static [&'static str],
    only: &'static [&'static str],
}

impl Run {
    fn build(&self) -> Result<bool, String> {
        cargo_of(&[&["test"], self.tests, &["--no-run"]].concat())
    }

    fn run(&self) -> Result<bool, String> {
        println!("--> {}", self.what);
        let quiet: &[&str] = &["test", "--quiet"];
        cargo_of(&[quiet, self.tests, &["--"], self.only].concat())
    }
}

/// Runs the fault tests the given number of times; stops at the first failure.
pub fn command(arguments: &[String]) -> Result<bool, String> {
    let times = times(arguments)?;
    engine::prepare()?;
    if !cargo_of(NODE)? || !all(Run::build)? {
        return Ok(false);
    }
    let mut took = Vec::new();
    for round in 1..=times {
        println!("==> faults, {round} of {times}");
        let begun = clock();
        if !all(Run::run)? {
            println!("==> failed in round {round} of {times}");
            return Ok(false);
        }
        took.push(begun.elapsed().as_secs());
    }
    println!("==> passed {times} times in a row; seconds: {took:?}");
    Ok(true)
}

fn times(arguments: &[String]) -> Result<u32, String> {
    let count = match arguments {
        [] => Some(1),
        [flag, count] if flag == "--times" => count.parse().ok(),
        _ => None,
    };
    count.filter(|count| *count > 0).ok_or(USAGE.to_owned())
}

/// Calls `act` for each run in turn; stops at the first failure.
fn all(act: impl Fn(&Run) -> Result<bool, String>) -> Result<bool, String> {
    for run in RUNS {
        if !act(run)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn cargo_of(arguments: &[&str]) -> Result<bool, String> {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(root());
    engine::name_to(&mut command);
    let status = command
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a round took is for the reader alone"
)]
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_rounds_is_asked_for_or_one_is_run() {
        let times = |line: &str| {
            let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            times(&arguments)
        };
        assert_eq!(times(""), Ok(1));
        assert_eq!(times("--times 10"), Ok(10));
        for wrong in ["--times", "--times 0", "--times ten", "10"] {
            assert!(times(wrong).is_err(), "{wrong}");
        }
    }
}
