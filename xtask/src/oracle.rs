//! The published AnonCreds library, in a Python environment under `target/`: tests and a bench compare ours with it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    aries, askar, clients, didcomm, integrity, jmeter, mdoc, openssl, package, parties, peer,
    python, second, webvh,
    workspace::{cargo, root},
};

/// The environment variable with the path of the environment's Python, for tests and benches.
const VARIABLE: &str = "SELFSAME_ORACLE_PYTHON";
/// The environment variable with the number of flows that the cross-tests run.
const COUNT: &str = "SELFSAME_CROSS_COUNT";
/// The environment variable with the arithmetic that the cross-tests use.
const PATH: &str = "SELFSAME_CROSS_PATH";
const WHEEL: &str = "anoncreds";
const VERSION: &str = "0.2.3";

/// The tests with the wheel and with the mathematics package. The test profile optimises their slow parts. With the
/// whole workspace's features, they share one build with all other tests.
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

/// Options of the cross-tests.
#[derive(Debug, Default, PartialEq)]
pub struct Cross {
    /// The number of flows, instead of the default of a few.
    count: Option<u32>,
    /// The arithmetic to use, instead of the fastest that the processor supports.
    path: Option<&'static str>,
}

/// Creates the environment, unless it is already there.
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

/// Runs the tests that compare ours with the published library and with its mathematics package.
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
    /// Parses the arguments after `anoncreds`; `None` if they are not valid.
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

/// `cargo xtask cross anoncreds [--count N] [--adx | --portable]`, or `… cross` with `tls`, `sd-jwt`, `openid4vc`,
/// `clients`, `askar`, `didcomm`, `mdoc`, `webvh`, `aries [acapy | credo]`, `relying-parties`, `jmeter PLAN.jmx` or
/// `sign-in-plan PLAN.jmx`.
pub fn cross_command(arguments: &[String]) -> Result<bool, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usage = "usage: cargo xtask cross anoncreds [--count N] [--adx | --portable], or cargo xtask cross tls | sd-jwt | openid4vc | clients | askar | didcomm | mdoc | data-integrity | webvh | aries [acapy | credo] | relying-parties | jmeter PLAN.jmx | sign-in-plan PLAN.jmx";
    match words.split_first() {
        Some((&"anoncreds", flags)) => cross(&Cross::parse(flags).ok_or(usage)?),
        Some((&"tls", [])) => second::cross(),
        Some((&"sd-jwt", [])) => package::cross(),
        Some((&"openid4vc", [])) => peer::cross(),
        Some((&"clients", [])) => clients::cross(),
        Some((&"askar", [])) => askar::cross(),
        Some((&"didcomm", [])) => didcomm::cross(),
        Some((&"mdoc", [])) => mdoc::cross(),
        Some((&"data-integrity", [])) => integrity::cross(),
        Some((&"webvh", [])) => webvh::cross(),
        Some((&"jmeter", words)) => jmeter::cross(words),
        Some((&"sign-in-plan", words)) => jmeter::sign_in::cross(words),
        Some((&"relying-parties", [])) => parties::cross(),
        Some((&"aries", [])) => aries::cross(),
        Some((&"aries", ["acapy"])) => aries::cross_acapy(),
        Some((&"aries", ["credo"])) => aries::cross_credo(),
        _ => Err(usage.to_owned()),
    }
}

/// Runs `cargo xtask bench anoncreds [FLAGS]` or `cargo xtask bench tls [FLAGS]` and passes the flags on.
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
    // Prints nothing if the environment is ready: with `--json` the output must be exactly one object.
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

/// Sets the environment variable with the environment's Python, if there is one.
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
