//! The engine's process: started, read, stopped, and never left behind.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selfsame_app::{Error, Result};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;

use crate::engine::Engine;

/// How long the engine may take to stop when asked to.
const GRACE: Duration = Duration::from_secs(5);
/// How long the last of its lines may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Longest line of the engine's that goes to the log.
const LINE_MAX: usize = 2_000;

/// So many of its last lines are remembered.
const LAST_LINES: usize = 10;

/// The engine's memory is collected when five times what lives is in use, or when it has this much: it lives on little,
/// and by its own choice it would collect it several times a second under load.
const COLLECTING: [(&str, &str); 2] = [("GOGC", "400"), ("GOMEMLIMIT", "192MiB")];

/// Stands between us and the engine, in a process group with it. A line on its input asks the engine to stop; the
/// end of its input kills the group. So the engine dies with us, even where we are killed: the kernel closes the pipe.
const KEEPER: &str = r#"
exec 3<&0 </dev/null
"$@" 3<&- &
engine=$!
( read -r _ <&3 && { kill -TERM "$engine" 2>/dev/null; read -r _ <&3; }; kill -KILL 0 ) &
keeper=$!
wait "$engine"
status=$?
kill -KILL "$keeper" 2>/dev/null
exit "$status"
"#;

/// A running engine.
pub(crate) struct Process {
    child: Child,
    /// While it is open, the engine may live.
    leash: ChildStdin,
    said: LastWords,
    readers: Vec<JoinHandle<()>>,
}

/// The last lines the engine said.
#[derive(Clone, Default)]
struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl Process {
    /// Starts the engine with its folder, to speak with us over `socket`.
    pub(crate) fn start(engine: &Engine, home: &Path, socket: &Path) -> Result<Self> {
        let mut command = Command::new("sh");
        command
            .args(["-c", KEEPER, "engine"])
            .arg(engine.program())
            .arg("start")
            .arg("--home")
            .arg(home)
            .arg("--proxy_app")
            .arg(format!("unix://{}", socket.display()))
            .envs(COLLECTING)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(Error::internal)?;
        let Some(leash) = child.stdin.take() else {
            return Err(Error::internal("the engine's keeper has no input"));
        };
        let said = LastWords::default();
        let mut readers = Vec::new();
        if let Some(output) = child.stdout.take() {
            readers.push(tokio::spawn(log(output, said.clone())));
        }
        if let Some(output) = child.stderr.take() {
            readers.push(tokio::spawn(log(output, said.clone())));
        }
        Ok(Self {
            child,
            leash,
            said,
            readers,
        })
    }

    /// Until the engine has ended by itself.
    pub(crate) async fn ended(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => {
                for reader in &mut self.readers {
                    // What it said last is read, unless somebody else holds its output open.
                    let _ = tokio::time::timeout(LAST_WORDS, reader).await;
                }
                let lines = self.said.take();
                for line in &lines {
                    tracing::warn!(target: "cometbft", "{line}");
                }
                let cause = lines.iter().find(|line| is_cause(line));
                let cause = cause.map_or_else(String::new, |line| format!(": {line}"));
                format!("the engine ended: {}{cause}", describe(status))
            }
            Err(error) => format!("the engine can't be waited for: {error}"),
        }
    }

    /// Asks the engine to stop, and kills what is left after a while.
    pub(crate) async fn stop(mut self) {
        // A keeper that is gone has killed the engine already.
        let _ = self.leash.write_all(b"\n").await;
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_ok() {
            return;
        }
        tracing::warn!("the engine did not stop in time and is killed");
        self.kill().await;
    }

    /// Kills the engine.
    pub(crate) async fn kill(mut self) {
        drop(self.leash);
        if let Err(error) = self.child.wait().await {
            tracing::error!(%error, "the engine can't be waited for");
        }
    }
}

impl LastWords {
    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn take(&self) -> VecDeque<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the engine says goes to our log, quietly: it calls a peer that is gone an error. Where it ends by itself, its
/// last lines are said aloud.
async fn log(output: impl AsyncRead + Unpin, said: LastWords) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line: String = line.chars().take(LINE_MAX).collect();
        tracing::debug!(target: "cometbft", "{line}");
        said.add(line);
    }
}

/// Whether the engine says here what made it end.
fn is_cause(line: &str) -> bool {
    ["ERROR:", "panic:", "fatal error:"]
        .iter()
        .any(|word| line.starts_with(word))
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        // A shell says 128 and the signal's number.
        Some(code @ 129..) => format!("signal {}", code.saturating_sub(128)),
        _ => status.to_string(),
    }
}
