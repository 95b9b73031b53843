//! The npm packages @openid4vc, in a Node.js folder under `target/`: tests run our OpenID4VC against them.

use std::process::Command;

use crate::{
    node::{Packages, succeeds},
    workspace::{cargo, root},
};

/// The environment variable with the peer's folder, for tests.
const VARIABLE: &str = "SELFSAME_OPENID4VC_PEER";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "openid4vc",
    "--",
    "--ignored",
];

/// Runs the tests with the packages.
pub fn cross() -> Result<bool, String> {
    let packages = Packages {
        name: "@openid4vc",
        folder: root().join("target").join("openid4vc"),
        sources: "crates/selfsame/tests/openid4vc/peer",
        step: "npm",
    };
    packages.prepare()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    succeeds(command.env(VARIABLE, &packages.folder))
}
