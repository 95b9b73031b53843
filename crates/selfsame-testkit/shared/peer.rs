//! A program with another implementation, which does one job: JSON in, JSON out. Tests of crates include this file by its
//! path, so that they need not build the rest of the kit.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A program that does one job.
pub struct Peer {
    /// The variable by which xtask tells where the packages are.
    variable: &'static str,
    script: &'static str,
    is_node: bool,
}

#[allow(dead_code, reason = "each crate has the peers that it has")]
impl Peer {
    /// A program in JavaScript, which xtask has put beside its packages.
    pub const fn node(variable: &'static str, script: &'static str) -> Self {
        Self {
            variable,
            script,
            is_node: true,
        }
    }

    /// A program in Python, from `tests/python` of the crate.
    pub const fn python(variable: &'static str, script: &'static str) -> Self {
        Self {
            variable,
            script,
            is_node: false,
        }
    }

    /// Its name.
    pub const fn script(&self) -> &'static str {
        self.script
    }

    /// Lets the program do a job, and returns what it says.
    #[allow(
        clippy::disallowed_methods,
        reason = "xtask tells by the environment where the packages are"
    )]
    pub fn said(&self, job: &Value) -> Value {
        let place = std::env::var(self.variable);
        let place = place.expect("where the packages are: `cargo xtask cross` says so");
        let mut command = if self.is_node {
            let mut node = Command::new("node");
            node.arg(format!("{place}/{}", self.script));
            node
        } else {
            let mut python = Command::new(place);
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/");
            python.arg(format!("{folder}{}", self.script));
            python
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(job.to_string().as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{} failed", self.script);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
