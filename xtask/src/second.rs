//! The second implementation of the paper's TLS messages, in Python: tests run ours against it. Its dependencies are
//! installed under `target/`.

use std::path::PathBuf;

use crate::{python, workspace::root};

/// The environment variable with the path of the environment's Python, for tests.
const VARIABLE: &str = "SELFSAME_SECOND_PYTHON";
/// The packages to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-tls/tests/second/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--lib",
    "--",
    "--ignored",
    "python::",
];

/// Runs the tests with the second implementation.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Creates the environment, unless it is already there.
fn prepare() -> Result<(), String> {
    let environment = python::Pinned {
        name: "tlslite-ng, which the second implementation stands on,",
        folder: folder(),
        requirements: REQUIREMENTS,
        script: "import ecdsa, tlslite.recordlayer",
        further: &[],
    };
    environment.prepare()
}

fn folder() -> PathBuf {
    root().join("target").join("second")
}
