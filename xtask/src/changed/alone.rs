//! Runs a test executable if it is among those that a change can have broken.
//!
//! Cargo builds the tests of all packages and calls this program in place of each test executable. With `-p`, cargo would
//! choose other features for some dependencies, and build nearly everything again.

use std::{os::unix::process::CommandExt, path::Path, process::Command};

use super::reach::{DOC, Suites, UNIT};

/// The task of this program that cargo calls.
pub const TASK: &str = "run-changed";

/// The argument for `cargo --config` that makes it call this program, for these suites.
pub fn config(suites: &Suites) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let words = [&program.display().to_string(), TASK, &suites.to_string()];
    let words: Vec<toml::Value> = words.iter().map(|word| toml::Value::from(*word)).collect();
    Ok(format!(
        "target.'cfg(all())'.runner = {}",
        toml::Value::from(words)
    ))
}

/// `run-changed SUITES PROGRAM ARGUMENTS…`: becomes the program, if it is one of these suites.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let [suites, program, rest @ ..] = arguments else {
        return Err("cargo calls this task: cargo xtask test --changed".to_owned());
    };
    let suite = suite(&package()?, Path::new(program));
    if !Suites::parse(suites).has(&suite) {
        println!("     elsewhere or unchanged: {suite}");
        return Ok(true);
    }
    Err(format!(
        "{program}: {}",
        Command::new(program).args(rest).exec()
    ))
}

/// The suite that a test executable has, as `PACKAGE/SUITE`.
fn suite(package: &str, program: &Path) -> String {
    let stem = program.file_stem().and_then(|name| name.to_str());
    // Cargo's names end with a hash. Rustdoc builds examples in a folder of its own.
    let name = stem.and_then(|name| name.rsplit_once('-'));
    let name = match name {
        Some((name, _)) if name == package.replace('-', "_") || name == package => UNIT,
        Some((name, _)) => name,
        None => DOC,
    };
    format!("{package}/{name}")
}

/// The package whose tests cargo runs.
fn package() -> Result<String, String> {
    #[allow(
        clippy::disallowed_methods,
        reason = "cargo tells its child which package it tests by no other way"
    )]
    let package = std::env::var("CARGO_PKG_NAME");
    package.map_err(|error| format!("CARGO_PKG_NAME: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_executable_is_known_by_its_package_and_its_name() {
        let suite = |program: &str| suite("selfsame-tls-io", Path::new(program));
        assert_eq!(suite("deps/selfsame_tls_io-0a1b"), "selfsame-tls-io/unit");
        assert_eq!(suite("deps/streams-0a1b"), "selfsame-tls-io/streams");
        assert_eq!(suite("rustdoctest0a/rust_out"), "selfsame-tls-io/doc");
    }

    #[test]
    fn cargo_gets_this_program_and_the_suites_as_an_array() {
        let suites = Suites::parse("selfsame/readme selfsame-did/*");
        let config: toml::Table = config(&suites).unwrap().parse().unwrap();
        let runner = config["target"]["cfg(all())"]["runner"].as_array().unwrap();
        assert_eq!(runner[1].as_str(), Some(TASK));
        assert_eq!(Suites::parse(runner[2].as_str().unwrap()), suites);
    }
}
