//! Packages for logs of did:webvh, of Node.js and of Python, in folders under `target/`: tests exchange logs with them.

use std::{path::PathBuf, process::Command};

use crate::{
    node::{Packages, succeeds},
    python,
    workspace::{cargo, root},
};

/// The environment variables with the folder of the package of Node.js, and with the path of the environment's Python.
const NODE: &str = "SELFSAME_WEBVH_PEERS";
const PYTHON: &str = "SELFSAME_WEBVH_PYTHON";
/// The packages of Python to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-webvh/tests/python/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &["test", "--workspace", "--test", "logs", "--", "--ignored"];

/// Runs the tests with the packages.
pub fn cross() -> Result<bool, String> {
    let packages = Packages {
        name: "didwebvh-ts",
        folder: root().join("target").join("webvh"),
        sources: "crates/selfsame-webvh/tests/npm",
        step: "oracle",
    };
    packages.prepare()?;
    let environment = python::Pinned {
        name: "did-webvh",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import did_webvh.resolver, did_webvh.provision",
        further: &[],
    };
    environment.prepare()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    python::name_to(&mut command, PYTHON, &folder());
    succeeds(command.env(NODE, &packages.folder))
}

fn folder() -> PathBuf {
    root().join("target").join("webvh-python")
}
