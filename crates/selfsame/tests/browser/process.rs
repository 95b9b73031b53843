//! A child process with its output in a file; dropping it kills it with all processes it started.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);

/// A running program, its data folder, and its output so far.
pub struct Process {
    child: Child,
    folder: TempDir,
}

impl Process {
    /// Starts a program with arguments that may depend on a fresh folder.
    pub fn start(
        program: &str,
        arguments: impl FnOnce(&Path) -> Vec<String>,
    ) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{program}: {error}");
        let folder = tempfile::Builder::new()
            .prefix("selfsame-test-")
            .tempdir()
            .map_err(failed)?;
        let output = File::create(folder.path().join(OUTPUT)).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(arguments(folder.path())).process_group(0);
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let child = command.spawn().map_err(failed)?;
        Ok(Self { child, folder })
    }

    /// The folder the program was given.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its output so far.
    pub fn output(&self) -> String {
        let bytes = fs::read(self.folder().join(OUTPUT)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for the first output line that contains `needle`.
    pub async fn line_with(&mut self, needle: &str) -> String {
        self.seek(needle)
            .await
            .unwrap_or_else(|why| panic!("{why}"))
    }

    /// The line, or how the process ended and its output.
    pub async fn seek(&mut self, needle: &str) -> Result<String, String> {
        for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
            let output = self.output();
            // The last line may be incomplete.
            let whole = output.rfind('\n').map_or("", |end| &output[..end]);
            if let Some(line) = whole.lines().find(|line| line.contains(needle)) {
                return Ok(line.to_owned());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                let output = self.output();
                return Err(format!(
                    "ended with {status} before it printed {needle:?}:\n{output}"
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
        let output = self.output();
        Err(format!(
            "did not print {needle:?} within {PATIENCE:?}:\n{output}"
        ))
    }
}

const OUTPUT: &str = "output.log";

impl Drop for Process {
    fn drop(&mut self) {
        kill(&format!("-{}", self.child.id()));
        let _ = self.child.wait();
        // Chromium leaves its driver's process group; its command line still names our folder.
        for _ in 0..1_500 {
            let left = mentioning(self.folder());
            if left.is_empty() {
                break;
            }
            left.iter().for_each(|id| kill(id));
            std::thread::sleep(PAUSE);
        }
    }
}

/// Kills a process, or its group with a leading `-`; a process that has ended already is not an error.
fn kill(id: &str) {
    let _ = Command::new("kill")
        .args(["-KILL", "--", id])
        .stderr(Stdio::null())
        .status();
}

/// The ids of the processes whose command line mentions a folder.
pub fn mentioning(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ids = ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    ids.filter(|id| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&folder)
    })
    .collect()
}
