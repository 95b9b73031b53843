//! `cargo xtask siege`: every known denial-of-service attack on an instance, run against the release binary.

use std::process::Command;

use crate::workspace::{cargo, root};

const USAGE: &str = "usage: cargo xtask siege";
const SIEGE: &[&str] = &[
    "test",
    "--release",
    "--package",
    "selfsame",
    "--test",
    "siege",
    "--",
    "--ignored",
    "--exact",
    "--nocapture",
    "siege::an_instance_stands_every_attack_and_serves_honest_people_meanwhile",
];

/// The allocator commits memory as it needs it: a limit on a process's data also counts memory that is reserved.
const AS_NEEDED: (&str, &str) = ("MIMALLOC_ARENA_EAGER_COMMIT", "0");

/// Runs the siege; returns `false` if a test failed.
pub fn command(arguments: &[String]) -> Result<bool, String> {
    if !arguments.is_empty() {
        return Err(USAGE.to_owned());
    }
    let status = Command::new(cargo())
        .args(SIEGE)
        .env(AS_NEEDED.0, AS_NEEDED.1)
        .current_dir(root())
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}
