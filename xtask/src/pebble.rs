//! Pebble, a server of ACME for tests, and the DNS server that it asks: built with Go into `target/`. Its go.sum pins each
//! module by its hash.

use std::{path::PathBuf, process::Command};

use crate::{
    engine::{self, GoVersion},
    workspace::root,
};

/// The environment variable with the folder of both programs, for tests.
const VARIABLE: &str = "SELFSAME_PEBBLE";
/// The folder of the go.mod that names the release.
const SOURCE: &str = "crates/selfsame-acme/tests/server";
/// The folder of the packages of the programs.
const PACKAGES: &str = "github.com/letsencrypt/pebble/v2/cmd";
const PROGRAMS: [&str; 2] = ["pebble", "pebble-challtestsrv"];
/// The oldest Go that builds it, from its go.mod.
const GO: GoVersion = GoVersion(1, 24);

/// Builds both. Go does nothing if they are there already.
pub fn prepare() -> Result<bool, String> {
    if !is_there() {
        println!("    building Pebble (a minute)");
    }
    for name in PROGRAMS {
        let package = format!("{PACKAGES}/{name}");
        let program = folder().join(name);
        engine::build_package(&root().join(SOURCE), &program, &package, GO)?;
    }
    Ok(true)
}

/// Sets the environment variable, if both are built.
pub fn name_to(command: &mut Command) {
    if is_there() {
        command.env(VARIABLE, folder());
    }
}

fn is_there() -> bool {
    PROGRAMS.iter().all(|name| folder().join(name).exists())
}

fn folder() -> PathBuf {
    root().join("target").join("pebble")
}
