//! The engine's process: starts it, reads its output, stops it, and never leaves it behind.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selfsame_driver::{Error, Result};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::engine::Engine;

/// The time that the engine has to stop when asked to.
const GRACE: Duration = Duration::from_secs(5);
/// The time allowed for reading the engine's last lines.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The maximum length of a line from the engine in the log, in characters.
const LINE_MAX: usize = 2_000;

/// The number of the engine's last lines that are remembered.
const LAST_LINES: usize = 10;

/// Messages of an engine that stopped working while its process lives on. Its consensus catches its own panics, such as
/// one from a disk that was full for a moment. An engine that can't start from a snapshot stops trying.
const GIVEN_UP: [&str; 5] = [
    "CONSENSUS FAILURE!!!",
    "State sync failed",
    "Failed to bootstrap node with new state",
    "Failed to store last seen commit",
    "Failed to switch to block sync",
];

/// The engine's garbage collector runs when memory in use is five times the live memory, or reaches this limit: it
/// trades memory for processor time. The effect of this alone has not been measured.
const COLLECTING: [(&str, &str); 2] = [("GOGC", "400"), ("GOMEMLIMIT", "192MiB")];

/// What the operator should do about an engine that crashes.
const DAMAGED: &str = "if this happens at every start, the engine's data are damaged: replace the node with a new one (docs/network.md)";

/// A shell script between this process and the engine, in one process group with it. A line on its input asks the
/// engine to stop; the end of its input kills the group. So the engine ends with this process, even if that is killed:
/// the kernel closes the pipe.
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
pub(crate) struct EngineProcess {
    child: Child,
    /// The engine may live while this is open.
    leash: ChildStdin,
    said: LastWords,
    /// Receives the reason if the engine stopped working while its process lives on.
    given_up: mpsc::Receiver<String>,
    readers: Vec<JoinHandle<()>>,
}

/// The last lines of the engine's output.
#[derive(Clone, Default)]
struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl EngineProcess {
    /// Starts the engine with its folder; it connects to `socket`.
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
        let (give_up, given_up) = mpsc::channel(1);
        let mut readers = Vec::new();
        if let Some(output) = child.stdout.take() {
            readers.push(tokio::spawn(log(output, said.clone(), give_up.clone())));
        }
        if let Some(output) = child.stderr.take() {
            readers.push(tokio::spawn(log(output, said.clone(), give_up)));
        }
        Ok(Self {
            child,
            leash,
            said,
            given_up,
            readers,
        })
    }

    /// Waits until the engine has ended or stopped working; returns the reason.
    pub(crate) async fn ended(&mut self) -> String {
        let ended = tokio::select! {
            ended = self.child.wait() => ended,
            Some(why) = self.given_up.recv() => {
                return format!("the engine is still running but has stopped working: {why}");
            }
        };
        match ended {
            Ok(status) => self.last_words(status).await,
            Err(error) => format!("the engine can't be waited for: {error}"),
        }
    }

    async fn last_words(&mut self, status: ExitStatus) -> String {
        for reader in &mut self.readers {
            // Reads the last output, unless another process holds the pipe open.
            let _ = tokio::time::timeout(LAST_WORDS, reader).await;
        }
        let lines = self.said.take();
        for line in &lines {
            tracing::warn!(target: "cometbft", "{line}");
        }
        let cause = lines.iter().find(|line| is_cause(line));
        let cause = cause.map_or_else(String::new, |line| match is_crash(line) {
            true => format!(": {line}; {DAMAGED}"),
            false => format!(": {line}"),
        });
        format!("the engine ended: {}{cause}", describe(status))
    }

    /// Asks the engine to stop, and kills it if it does not stop in time.
    pub(crate) async fn stop(mut self) {
        // If the script is gone, it has killed the engine already.
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

/// Logs the engine's output at a low level, since the engine calls a lost peer an error. If the engine ends by itself,
/// its last lines are logged as warnings.
async fn log(output: impl AsyncRead + Unpin, said: LastWords, give_up: mpsc::Sender<String>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line: String = line.chars().take(LINE_MAX).collect();
        tracing::debug!(target: "cometbft", "{line}");
        if let Some(why) = given_up(&line) {
            // Later lines add nothing to the first.
            let _ = give_up.try_send(why);
        }
        said.add(line);
    }
}

/// The reason why the engine stopped working, if this line says so. The field `err` has the reason; the stack trace
/// after it is for the engine's developers.
fn given_up(line: &str) -> Option<String> {
    let what = GIVEN_UP.iter().find(|what| line.contains(*what))?;
    let Some((_, err)) = line.split_once(" err=") else {
        return Some((*what).to_owned());
    };
    let reason = match err.strip_prefix('"') {
        Some(quoted) => quoted.split("\" ").next().unwrap_or(quoted),
        None => err.split(' ').next().unwrap_or(err),
    };
    Some(format!("{what} {}", reason.trim_end_matches('"')))
}

/// Whether this line says why the engine ended.
fn is_cause(line: &str) -> bool {
    ["ERROR:", "panic:", "fatal error:"]
        .iter()
        .any(|word| line.starts_with(word))
}

/// Whether this line says that the engine crashed.
fn is_crash(line: &str) -> bool {
    ["panic:", "fatal error:"]
        .iter()
        .any(|word| line.starts_with(word))
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        // A shell's exit code is 128 plus the signal's number.
        Some(code @ 129..) => format!("signal {}", code.saturating_sub(128)),
        _ => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const FULL: &str = r#"E[2026-11-22|19:00:00.000] CONSENSUS FAILURE!!!                         module=consensus err="failed to apply block; error write wal: no space left on device" stack="goroutine 88 [running]:\nmain""#;

    /// An engine that prints this line and lives on.
    async fn engine(folder: &Path, line: &str) -> Engine {
        let program = folder.join("cometbft");
        std::fs::write(folder.join("line"), format!("{line}\n")).unwrap();
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = version ] && {{ echo 0.38.26; exit; }}\ncat {}\nexec sleep 600\n",
            folder.join("line").display()
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        Engine::at(&program).await.unwrap()
    }

    #[tokio::test]
    async fn an_engine_that_has_given_up_but_lives_on_is_told_of_with_its_reason_and_can_be_killed()
    {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), FULL).await;
        let mut process =
            EngineProcess::start(&engine, folder.path(), Path::new("socket")).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(60), process.ended());
        assert_eq!(
            ended.await.unwrap(),
            "the engine is still running but has stopped working: CONSENSUS FAILURE!!! failed to apply block; error write wal: no space left on device"
        );
        let killed = tokio::time::timeout(Duration::from_secs(60), process.kill());
        assert!(killed.await.is_ok());
    }

    #[tokio::test]
    async fn an_engine_that_crashes_is_told_of_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cometbft");
        let script = "#!/bin/sh\n[ \"$1\" = version ] && { echo 0.38.26; exit; }\necho 'panic: leveldb: corrupted' >&2\nexit 2\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let engine = Engine::at(&program).await.unwrap();
        let mut process =
            EngineProcess::start(&engine, folder.path(), Path::new("socket")).unwrap();
        let ended = process.ended().await;
        assert!(ended.contains("panic: leveldb: corrupted; "), "{ended}");
        assert!(
            ended.ends_with("replace the node with a new one (docs/network.md)"),
            "{ended}"
        );
    }

    #[test]
    fn only_what_ends_the_engines_work_is_a_reason_to_start_it_again() {
        let why = |line| given_up(line);
        assert_eq!(
            why(
                r#"E[…] State sync failed                            module=statesync err=timeout"#
            ),
            Some("State sync failed timeout".to_owned())
        );
        assert_eq!(
            why("E[…] CONSENSUS FAILURE!!!"),
            Some("CONSENSUS FAILURE!!!".to_owned())
        );
        for line in [
            r#"E[…] dialing failed (attempts: 1): connect: connection refused module=pex addr=a"#,
            r#"E[…] Failed to fetch snapshots                    module=statesync err="a""#,
        ] {
            assert_eq!(why(line), None, "{line}");
        }
    }
}
