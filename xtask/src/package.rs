//! The Python package sd-jwt, in an environment under `target/`: tests compare our SD-JWT VCs with it.

use std::path::PathBuf;

use crate::{python, workspace::root};

/// The environment variable with the path of the environment's Python, for tests.
const VARIABLE: &str = "SELFSAME_SD_JWT_PYTHON";
/// The packages to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-credential/tests/package/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "package",
    "--",
    "--ignored",
];

/// Runs the tests with the package.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Creates the environment, unless it is already there.
fn prepare() -> Result<(), String> {
    let environment = python::Pinned {
        name: "sd-jwt",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import sd_jwt.issuer",
        further: &[],
    };
    environment.prepare()
}

fn folder() -> PathBuf {
    root().join("target").join("sd-jwt")
}
