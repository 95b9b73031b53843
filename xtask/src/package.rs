//! The Python package sd-jwt, which tests cross our SD-JWT VCs with: a Python environment under `target/`.

use std::path::PathBuf;

use crate::{python, workspace::root};

/// The variable that tells tests where the environment's Python is.
const VARIABLE: &str = "SELFSAME_SD_JWT_PYTHON";
/// What is installed, each package by its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-credential/tests/package/requirements.txt";

/// By the whole workspace's features, they are built once with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "package",
    "--",
    "--ignored",
];

/// The tests with the package.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Sees to it that the environment is there, and makes it if not.
fn prepare() -> Result<(), String> {
    let environment = python::Pinned {
        name: "sd-jwt",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import sd_jwt.issuer",
    };
    environment.prepare()
}

fn folder() -> PathBuf {
    root().join("target").join("sd-jwt")
}
