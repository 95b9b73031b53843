//! A mail server that mail is handed to in tests, in a Python environment under `target/`.

use crate::{python, workspace::root};

/// The environment variable with the path of the environment's Python, for tests.
const VARIABLE: &str = "SELFSAME_MAIL_PYTHON";
/// The packages to install, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame-net/tests/mail/requirements.txt";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "mail",
    "--",
    "--ignored",
    "python::",
];

/// Runs the tests with the mail server.
pub fn cross() -> Result<bool, String> {
    let folder = root().join("target").join("mail");
    let environment = python::Pinned {
        name: "aiosmtpd",
        folder: folder.clone(),
        requirements: REQUIREMENTS,
        script: "import aiosmtpd.controller",
        further: &[],
    };
    environment.prepare()?;
    python::test(CROSS, VARIABLE, &folder)
}
