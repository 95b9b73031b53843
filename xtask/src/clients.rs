//! Clients made of the OpenAPI document: their generators in folders under `target/`, the tests that drive them, and the
//! committed document itself.

use std::process::Command;

use crate::{
    node::{Packages, succeeds},
    python,
    workspace::{cargo, root},
};

/// The environment variables with the folder of the packages of Node.js and with the environment's Python, for tests.
const NODE: &str = "SELFSAME_CLIENT_NODE";
const PYTHON: &str = "SELFSAME_CLIENT_PYTHON";
/// The packages of Python, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame/tests/clients/python/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "clients",
    "--",
    "--ignored",
];
const WRITE: &[&str] = &[
    "test",
    "--workspace",
    "--lib",
    "--",
    "--ignored",
    "write_the_description",
];

/// Makes the clients, compiles them, and drives them against instances.
pub fn cross() -> Result<bool, String> {
    let packages = Packages {
        name: "for clients in TypeScript",
        folder: root().join("target").join("clients").join("typescript"),
        sources: "crates/selfsame/tests/clients/typescript",
        step: "clients",
    };
    packages.prepare()?;
    let environment = python::Pinned {
        name: "openapi-python-client",
        folder: root().join("target").join("clients").join("python"),
        requirements: REQUIREMENTS,
        script: "import openapi_python_client, mypy, httpx",
        further: &[],
    };
    environment.prepare()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    python::name_to(&mut command, PYTHON, &environment.folder);
    succeeds(command.env(NODE, &packages.folder))
}

/// `cargo xtask openapi`: writes `docs/openapi.json` anew.
pub fn openapi(arguments: &[String]) -> Result<bool, String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask openapi".to_owned());
    }
    succeeds(Command::new(cargo()).args(WRITE).current_dir(root()))
}
