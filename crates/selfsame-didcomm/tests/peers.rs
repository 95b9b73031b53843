//! DIDComm crossed with the code of other agents: `cargo xtask cross didcomm`.

#[path = "peers"]
mod python {
    #[path = "v1.rs"]
    mod v1;
    #[path = "v2.rs"]
    mod v2;

    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use serde_json::Value;

    /// Lets Python do a job, and returns what it says.
    #[allow(
        clippy::disallowed_methods,
        reason = "xtask tells by the environment where Python is"
    )]
    fn said(python: &str, script: &str, job: &Value) -> Value {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/");
        let python = std::env::var(python)
            .expect("where Python with the packages is: cargo xtask cross didcomm says so");
        let mut child = Command::new(python)
            .arg(format!("{folder}{script}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(job.to_string().as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
