//! Packages for Data Integrity proofs, of Node.js, in a folder under `target/`: tests exchange documents with them.

use std::process::Command;

use crate::{
    node::{Packages, succeeds},
    workspace::{cargo, root},
};

/// The environment variable with the folder of the packages.
const VARIABLE: &str = "SELFSAME_DATA_INTEGRITY_PEERS";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "crossed",
    "--",
    "--ignored",
];

/// The same documents through the W3C's API.
const FACE: &[&str] = &[
    "test",
    "--workspace",
    "--lib",
    "vc_api::npm",
    "--",
    "--ignored",
];

/// Runs the tests with the packages.
pub fn cross() -> Result<bool, String> {
    let packages = Packages {
        name: "@digitalbazaar/vc",
        folder: root().join("target").join("data-integrity"),
        sources: "crates/selfsame-data-integrity/tests/npm",
        step: "oracle",
    };
    packages.prepare()?;
    for tests in [CROSS, FACE] {
        let mut command = Command::new(cargo());
        command.args(tests).current_dir(root());
        if !succeeds(command.env(VARIABLE, &packages.folder))? {
            return Ok(false);
        }
    }
    Ok(true)
}
