//! The npm package axe-core, in a folder of Node.js under `target/`: a test checks pages with it in Chromium.

use std::process::Command;

use crate::{
    node::{Packages, succeeds},
    workspace::{cargo, root},
};

/// The environment variable with the package's folder, for the test.
const VARIABLE: &str = "SELFSAME_AXE";

/// With the whole workspace's features, this test shares one build with all other tests.
const CHECK: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "browser",
    "--",
    "--ignored",
    "npm::",
];

/// Checks the pages.
pub fn check() -> Result<bool, String> {
    let packages = Packages {
        name: "axe-core",
        folder: root().join("target").join("axe"),
        sources: "crates/selfsame/tests/browser/axe",
        step: "axe",
    };
    packages.prepare()?;
    let mut command = Command::new(cargo());
    command.args(CHECK).current_dir(root());
    succeeds(command.env(VARIABLE, &packages.folder))
}
