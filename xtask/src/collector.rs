//! The OpenTelemetry Collector, which tests give traces to: its receiver and its log, built with Go into `target/`. Its
//! go.sum pins each module by its hash.

use std::{path::PathBuf, process::Command};

use crate::{
    engine::{self, GoVersion},
    workspace::root,
};

/// The environment variable with the path of the collector, for tests.
const VARIABLE: &str = "SELFSAME_COLLECTOR";
/// The program: the collector with the two components that the tests need.
const SOURCE: &str = "crates/selfsame/tests/collector";
/// The oldest Go that builds it, from its go.mod.
const GO: GoVersion = GoVersion(1, 26);

/// Builds the collector. Go does nothing if it is there already.
pub fn prepare() -> Result<bool, String> {
    if !program().exists() {
        println!("    building the OpenTelemetry Collector (two minutes)");
    }
    engine::build(&root().join(SOURCE), &program(), GO)
}

/// Sets the environment variable, if the collector is built.
pub fn name_to(command: &mut Command) {
    if program().exists() {
        command.env(VARIABLE, program());
    }
}

fn program() -> PathBuf {
    root().join("target").join("collector").join("collector")
}
