//! Clients made of `docs/openapi.json`, as `docs/api.md` says: each is compiled strictly, then issues, holds, presents
//! and verifies a credential with a running instance. `cargo xtask cross clients`.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of processes starts them, and measures real time"
)]
#![allow(
    dead_code,
    reason = "the support is shared, and each test uses its part of it"
)]

#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;

mod npm;
mod python;

use std::path::{Path, PathBuf};
use std::process::Command;

use instance::{Instance, free_port};

/// The description that clients are made of.
fn description() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

/// Runs a program to its end.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a client against an instance of its own; it prints the outcome of the verification.
fn drive(client: &mut Command) {
    let folder = tempfile::tempdir().unwrap();
    let mut instance = Instance::start(&folder.path().join("data"), free_port(), &[]);
    instance.ready();
    let operator = instance.operator();
    let output = client
        .env("ORIGIN", operator.origin.as_str().trim_end_matches('/'))
        .env("TOKEN", operator.token())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{failed}");
    assert_eq!(said.trim(), "valid", "{failed}");
}
