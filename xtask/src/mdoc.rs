//! Packages for mdocs, of Node.js and of Python, in folders under `target/`: tests exchange documents with them.

use std::{path::PathBuf, process::Command};

use crate::{
    node::{Packages, succeeds},
    python,
    workspace::{cargo, root},
};

/// The environment variables with the folder of the packages of Node.js, and with the path of the environment's Python.
const NODE: &str = "SELFSAME_MDOC_PEERS";
const PYTHON: &str = "SELFSAME_MDOC_PYTHON";
/// The packages of Python to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-mdoc/tests/python/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "documents",
    "--",
    "--ignored",
];

/// Runs the tests with the packages.
pub fn cross() -> Result<bool, String> {
    let packages = Packages {
        name: "@auth0/mdl and @animo-id/mdoc",
        folder: root().join("target").join("mdoc"),
        sources: "crates/selfsame-mdoc/tests/npm",
        step: "oracle",
    };
    packages.prepare()?;
    let environment = python::Pinned {
        name: "pymdoccbor",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import pymdoccbor.mdoc.issuer, pymdoccbor.mdoc.verifier",
        further: &[],
    };
    environment.prepare()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    python::name_to(&mut command, PYTHON, &folder());
    succeeds(command.env(NODE, &packages.folder))
}

fn folder() -> PathBuf {
    root().join("target").join("mdoc-python")
}
