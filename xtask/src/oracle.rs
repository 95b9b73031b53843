//! The published AnonCreds library, which tests and a bench compare ours with: a Python environment under `target/`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    openssl, package, peer, python, second,
    workspace::{cargo, root},
};

/// The variable that tells tests and benches where the environment's Python is.
const VARIABLE: &str = "SELFSAME_ORACLE_PYTHON";
/// The variable that tells the cross-tests how many flows to walk.
const COUNT: &str = "SELFSAME_CROSS_COUNT";
/// The variable that tells the cross-tests which arithmetic to take.
const PATH: &str = "SELFSAME_CROSS_PATH";
const WHEEL: &str = "anoncreds";
const VERSION: &str = "0.2.3";

/// The tests with the wheel, and those with the mathematics package. The test profile optimises what takes time in them.
/// By the whole workspace's features, they are built once with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--lib",
    "--test",
    "cross",
    "--",
    "--include-ignored",
    "--nocapture",
    "wheel::",
    "cl::tests::crossing::",
    "cl::tests::lengths::",
    "cl::tests::random::",
    "pairing::tests::oracle::",
    "revocation::tests::oracle::",
];

/// What the cross-tests are asked to do.
#[derive(Debug, Default, PartialEq)]
pub struct Cross {
    /// How many flows in place of a few.
    count: Option<u32>,
    /// The arithmetic in place of the processor's best.
    path: Option<&'static str>,
}

/// Sees to it that the environment is there, and makes it if not.
pub fn prepare() -> Result<(), String> {
    let folder = folder();
    if is_ready(&folder) {
        println!("    {WHEEL} {VERSION} is in {}", folder.display());
        return Ok(());
    }
    println!(
        "    missing: the Python wheel {WHEEL} {VERSION} (the library ours is compared with, tests only)"
    );
    python::make(&folder, &[&format!("{WHEEL}=={VERSION}")])?;
    if is_ready(&folder) {
        return Ok(());
    }
    Err(format!(
        "{WHEEL} {VERSION} was installed, but Python does not find it\nhint: remove {} and try again",
        folder.display()
    ))
}

/// The tests that compare ours with the published library and with its mathematics package.
pub fn cross(asked: &Cross) -> Result<bool, String> {
    prepare()?;
    let mut command = command(CROSS);
    if let Some(count) = asked.count {
        command.env(COUNT, count.to_string());
    }
    if let Some(path) = asked.path {
        command.env(PATH, path);
    }
    succeeds(&mut command)
}

impl Cross {
    /// What the words after `anoncreds` say, if they are right.
    fn parse(words: &[&str]) -> Option<Self> {
        let mut asked = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match (*word, asked.path) {
                ("--count", _) => asked.count = Some(words.next()?.parse().ok()?),
                ("--adx", None) => asked.path = Some("adx"),
                ("--portable", None) => asked.path = Some("portable"),
                _ => return None,
            }
        }
        Some(asked)
    }
}

/// `cargo xtask cross anoncreds [--count N] [--adx | --portable]`, `cargo xtask cross tls` and `… cross sd-jwt`.
pub fn cross_command(arguments: &[String]) -> Result<bool, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usage = "usage: cargo xtask cross anoncreds [--count N] [--adx | --portable], or cargo xtask cross tls | sd-jwt | openid4vc";
    match words.split_first() {
        Some((&"anoncreds", flags)) => cross(&Cross::parse(flags).ok_or(usage)?),
        Some((&"tls", [])) => second::cross(),
        Some((&"sd-jwt", [])) => package::cross(),
        Some((&"openid4vc", [])) => peer::cross(),
        _ => Err(usage.to_owned()),
    }
}

/// `cargo xtask bench anoncreds [FLAGS]` and `cargo xtask bench tls [FLAGS]`: the flags are the bench's own.
pub fn bench_command(arguments: &[String]) -> Result<bool, String> {
    let named = arguments.split_first();
    let flags = match named.map(|(name, flags)| (name.as_str(), flags)) {
        Some(("anoncreds", flags)) => flags,
        Some(("tls", flags)) => return openssl::bench(flags),
        _ => {
            return Err(
                "usage: cargo xtask bench anoncreds [--quick] [--json] [--adx | --portable] [--only NAME]\n       cargo xtask bench tls [--quick] [--json] [--out DIR]\nhint: `selfsame bench` has the others"
                    .to_owned(),
            );
        }
    };
    // What a machine that is ready would say is left out: with --json the bench prints one object alone.
    if !is_ready(&folder()) {
        prepare()?;
    }
    let mut command = command(&[
        "bench",
        "--quiet",
        "--package",
        "selfsame-bench",
        "--bench",
        "anoncreds",
        "--",
    ]);
    succeeds(command.args(flags))
}

/// Names the environment to a command's children, if there is one.
pub fn name_to(command: &mut Command) {
    python::name_to(command, VARIABLE, &folder());
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(root());
    name_to(&mut command);
    command
}

fn succeeds(command: &mut Command) -> Result<bool, String> {
    let status = command
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}

fn folder() -> PathBuf {
    root().join("target").join("oracle")
}

fn is_ready(folder: &Path) -> bool {
    let script = format!(
        "import importlib.metadata as m, {WHEEL}; assert m.version('{WHEEL}') == '{VERSION}'"
    );
    python::runs(folder, &script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cross_tests_are_told_how_many_flows_and_which_arithmetic() {
        let asked = Cross::parse(&["--portable", "--count", "1000"]).unwrap();
        assert_eq!((asked.count, asked.path), (Some(1000), Some("portable")));
        assert_eq!(Cross::parse(&[]), Some(Cross::default()));
        for wrong in [
            &["--count"][..],
            &["--count", "many"],
            &["--adx", "--portable"],
            &["--fast"],
        ] {
            assert_eq!(Cross::parse(wrong), None, "{wrong:?}");
        }
    }
}
