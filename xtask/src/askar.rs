//! The library of Askar, in a Python environment under `target/`: tests let it make wallets, in SQLite and in PostgreSQL,
//! and compare what ours reads with what it says.

use std::{fs, path::PathBuf};

use crate::{machine, python, workspace::root};

/// The environment variable with the path of the environment's Python, for tests.
const VARIABLE: &str = "SELFSAME_ASKAR_PYTHON";
/// The packages to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-askar/tests/askar/requirements.txt";
/// Where Debian installs PostgreSQL, in a folder for each version.
const POSTGRESQL: &str = "/usr/lib/postgresql";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "askar",
    "--",
    "--ignored",
    "--skip",
    "write_the_vector",
];

/// Runs the tests with the library and a server.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Creates the environment and installs PostgreSQL, unless they are already there.
fn prepare() -> Result<(), String> {
    let has_server = fs::read_dir(POSTGRESQL).is_ok_and(|mut versions| versions.next().is_some());
    if !has_server {
        println!("    missing: PostgreSQL (keeps a wallet, tests only)");
        machine::install(&["postgresql"])?;
    }
    let environment = python::Pinned {
        name: "aries-askar",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import aries_askar",
    };
    environment.prepare()
}

fn folder() -> PathBuf {
    root().join("target").join("askar")
}
