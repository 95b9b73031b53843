//! The library of Askar and an agent that stands on it, each in a Python environment under `target/`: tests let them make
//! wallets, in SQLite and in PostgreSQL, and compare what ours reads with what they say.

use std::{fs, path::PathBuf, process::Command};

use crate::{
    machine, python,
    workspace::{cargo, root},
};

/// The environment variable with the path of the environment's Python, for tests.
const VARIABLE: &str = "SELFSAME_ASKAR_PYTHON";
/// The same for the environment with ACA-Py.
const AGENT: &str = "SELFSAME_ACAPY_PYTHON";
/// The packages to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-askar/tests/askar/requirements.txt";
/// ACA-Py and what it stands on, each with its hash.
pub const AGENT_REQUIREMENTS: &str = "crates/selfsame-moving/tests/askar/requirements.txt";
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
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    python::name_to(&mut command, VARIABLE, &folder());
    name_agent_to(&mut command);
    let status = command.status();
    let status = status.map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
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
        further: &[],
    };
    environment.prepare()?;
    prepare_agent()
}

/// Tells the tests where the agent's Python is.
pub fn name_agent_to(command: &mut Command) {
    python::name_to(command, AGENT, &agent_folder());
}

/// Creates the environment with the agent, unless it is already there.
pub fn prepare_agent() -> Result<(), String> {
    let agent = python::Pinned {
        name: "acapy-agent",
        folder: agent_folder(),
        requirements: AGENT_REQUIREMENTS,
        script: "import acapy_agent.askar.profile_anon",
        // It asks for a later Python than Debian 12 has. What the tests use of it runs with that one too.
        further: &["--ignore-requires-python"],
    };
    agent.prepare()
}

fn agent_folder() -> PathBuf {
    root().join("target").join("acapy")
}

fn folder() -> PathBuf {
    root().join("target").join("askar")
}
