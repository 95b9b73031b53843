//! The published AnonCreds library, which tests and a bench compare ours with: a Python environment under `target/`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    python, second,
    workspace::{cargo, root},
};

/// The variable that tells tests and benches where the environment's Python is.
const VARIABLE: &str = "SELFSAME_ORACLE_PYTHON";
/// The variable that tells the cross-tests how many flows to walk.
const COUNT: &str = "SELFSAME_CROSS_COUNT";
const WHEEL: &str = "anoncreds";
const VERSION: &str = "0.2.3";

const CROSS: &[&str] = &["test", "--package", "selfsame-anoncreds", "--test", "cross"];

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

/// The tests that need the published library, each flow once or `count` times.
pub fn cross(count: Option<&str>) -> Result<bool, String> {
    prepare()?;
    let mut command = command(CROSS);
    command.args(["--", "--ignored", "--nocapture"]);
    if let Some(count) = count {
        command.env(COUNT, count);
    }
    succeeds(&mut command)
}

/// `cargo xtask cross anoncreds [--count N]` and `cargo xtask cross tls`.
pub fn cross_command(arguments: &[String]) -> Result<bool, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["anoncreds"] => cross(None),
        ["tls"] => second::cross(),
        ["anoncreds", "--count", count] if count.parse::<u32>().is_ok() => cross(Some(count)),
        _ => Err(
            "usage: cargo xtask cross anoncreds [--count N], or cargo xtask cross tls".to_owned(),
        ),
    }
}

/// `cargo xtask bench anoncreds [FLAGS]`: the flags are the bench's own.
pub fn bench_command(arguments: &[String]) -> Result<bool, String> {
    let Some(("anoncreds", flags)) = arguments
        .split_first()
        .map(|(name, flags)| (name.as_str(), flags))
    else {
        return Err(
            "usage: cargo xtask bench anoncreds [--quick] [--json] [--adx | --portable] [--only NAME]\nhint: `selfsame bench` has the others"
                .to_owned(),
        );
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
