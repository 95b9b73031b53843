//! Other implementations of DIDComm, in Python environments under `target/`: ACA-Py's for v1, the package didcomm for v2.

use std::{path::PathBuf, process::Command};

use crate::{
    askar, python,
    workspace::{cargo, root},
};

/// The environment variable with the path of the environment's Python, for tests.
const VARIABLE: &str = "SELFSAME_DIDCOMM_PYTHON";
/// The packages to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-didcomm/tests/peers/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "peers",
    "--",
    "--ignored",
    "python::",
];

/// Runs the tests with the other implementations.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    python::name_to(&mut command, VARIABLE, &folder());
    askar::name_agent_to(&mut command);
    let status = command.status();
    let status = status.map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}

/// Creates the environments, unless they are already there.
fn prepare() -> Result<(), String> {
    askar::prepare_agent()?;
    let environment = python::Pinned {
        name: "didcomm",
        folder: folder(),
        requirements: REQUIREMENTS,
        // It reads keys in multibase with varint, of which there is no wheel. The tests use none.
        script: "import sys, types; sys.modules['varint'] = types.ModuleType('varint'); import didcomm.unpack",
        further: &[],
    };
    environment.prepare()
}

fn folder() -> PathBuf {
    root().join("target").join("didcomm")
}
