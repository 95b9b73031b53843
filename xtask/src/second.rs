//! The second implementation of the paper's TLS messages, in Python, which tests speak with: what it stands on is
//! installed under `target/`.

use std::path::PathBuf;

use crate::{python, workspace::root};

/// The variable that tells tests where the environment's Python is.
const VARIABLE: &str = "SELFSAME_SECOND_PYTHON";
/// What is installed, each package by its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-tls/tests/second/requirements.txt";

/// By the whole workspace's features, they are built once with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--lib",
    "--",
    "--ignored",
    "python::",
];

/// The tests with the second implementation.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Sees to it that the environment is there, and makes it if not.
fn prepare() -> Result<(), String> {
    let environment = python::Pinned {
        name: "tlslite-ng, which the second implementation stands on,",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import ecdsa, tlslite.recordlayer",
    };
    environment.prepare()
}

fn folder() -> PathBuf {
    root().join("target").join("second")
}
