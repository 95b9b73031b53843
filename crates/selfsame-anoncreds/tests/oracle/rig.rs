//! The published library as a child process that answers each line of JSON with another.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::party::Party;

/// The published library.
pub struct Wheel {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The time of one run of a call.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the bench reads them, the cross-tests do not")]
pub struct Time {
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time of all threads.
    pub cpu: Duration,
}

impl Wheel {
    /// Starts the library with the Python that `cargo xtask` provides.
    #[allow(
        clippy::disallowed_methods,
        reason = "xtask tells where Python is by the environment"
    )]
    pub fn start() -> Self {
        let python = std::env::var_os("SELFSAME_ORACLE_PYTHON").expect(
            "SELFSAME_ORACLE_PYTHON is not set: run this by `cargo xtask test`, `cross` or `bench`",
        );
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../selfsame-anoncreds/tests/oracle/oracle.py"
        );
        let mut child = Command::new(python)
            .args(["-B", script])
            .env("RUST_BACKTRACE", "0") // It panics over some altered messages, and that is an answer.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let input = child.stdin.take().expect("its input is piped");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        Self {
            child,
            input,
            output,
        }
    }

    /// Makes a call `repeat` times; returns its last answer and the time of each run. In a warm call, the objects that
    /// a caller would keep are already parsed.
    pub fn timed(
        &mut self,
        call: &str,
        arguments: &Value,
        repeat: usize,
        warm: bool,
    ) -> Result<(Value, Vec<Time>), String> {
        let line = json!({ "call": call, "arguments": arguments, "repeat": repeat, "warm": warm });
        writeln!(self.input, "{line}").expect("the library listens");
        let mut reply = String::new();
        self.output
            .read_line(&mut reply)
            .expect("the library answers");
        let mut reply: Value =
            serde_json::from_str(&reply).expect("the library's child process lives");
        if let Some(error) = reply["error"].as_str() {
            return Err(error.to_owned());
        }
        let nanoseconds = |field: &str, run: usize| {
            Duration::from_nanos(reply[field][run].as_u64().expect("a time"))
        };
        let times = (0..repeat)
            .map(|run| Time {
                wall: nanoseconds("wall_ns", run),
                cpu: nanoseconds("cpu_ns", run),
            })
            .collect();
        Ok((reply["answer"].take(), times))
    }
}

impl Party for Wheel {
    fn name(&self) -> &'static str {
        "the library"
    }

    fn call(&mut self, call: &str, arguments: &Value) -> Result<Value, String> {
        self.timed(call, arguments, 1, false)
            .map(|(answer, _)| answer)
    }
}

impl Drop for Wheel {
    fn drop(&mut self) {
        // The child has no state beyond this test, so the result does not matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
