//! `cargo xtask faults`: what may happen to a network of validators, with real processes, several times in a row.

use std::process::Command;
use std::time::Instant;

use crate::engine;
use crate::workspace::{cargo, root};

const USAGE: &str = "usage: cargo xtask faults [--times N]";
/// Networks of processes, one after the other; each test says its figures.
const RUN: &[&str] = &[
    "test",
    "--quiet",
    "--package",
    "selfsame-abci",
    "--test",
    "network",
    "--",
    "--test-threads=1",
    "--nocapture",
];
const BUILD: &[&[&str]] = &[
    &["build", "--package", "selfsame-abci", "--example", "node"],
    &[
        "test",
        "--package",
        "selfsame-abci",
        "--test",
        "network",
        "--no-run",
    ],
];

/// Runs the tests of faults, and again until they have passed so many times; the first that fails ends it.
pub fn command(arguments: &[String]) -> Result<bool, String> {
    let times = times(arguments)?;
    engine::prepare()?;
    for build in BUILD {
        if !run(build)? {
            return Ok(false);
        }
    }
    let mut took = Vec::new();
    for round in 1..=times {
        println!("==> faults, {round} of {times}");
        let begun = clock();
        if !run(RUN)? {
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

fn run(arguments: &[&str]) -> Result<bool, String> {
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
