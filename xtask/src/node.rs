//! Packages of Node.js in folders under `target/`, for tests. Versions and digests are those of `package-lock.json`.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{machine, workspace::root};

const LOCK: &str = "package-lock.json";

/// Packages in a folder, beside our own files that use them.
pub struct Packages {
    /// The name to show to people.
    pub name: &'static str,
    /// The folder under `target/`.
    pub folder: PathBuf,
    /// The folder of our own files, as a path from the root of the workspace.
    pub sources: &'static str,
    /// The step of `cargo xtask test` that needs them.
    pub step: &'static str,
}

impl Packages {
    /// Copies our files into the folder, and installs the packages unless those of the lock file are already there.
    pub fn prepare(&self) -> Result<(), String> {
        let Self { name, folder, .. } = self;
        let is_ready = self.is_installed();
        self.copy_sources()?;
        if is_ready {
            println!("    the packages {name} are in {}", folder.display());
            return Ok(());
        }
        if !runs("node") || !runs("npm") {
            machine::install(&["nodejs", "npm"])?;
        }
        println!(
            "    installing the packages {name} with npm into {} (tests only)",
            folder.display()
        );
        // Installation scripts of packages are not run.
        let fixed = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        let mut npm = Command::new("npm");
        if !succeeds(npm.args(fixed).current_dir(folder))? {
            return Err(format!(
                "`npm ci` failed\nhint: run it by hand to see why, or leave the comparison out: cargo xtask test --skip {}",
                self.step
            ));
        }
        let lock = folder.join(LOCK);
        fs::copy(&lock, folder.join("node_modules").join(LOCK))
            .map(|_| ())
            .map_err(|error| failed(&lock, &error))
    }

    fn copy_sources(&self) -> Result<(), String> {
        let folder = &self.folder;
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let sources = root().join(self.sources);
        let listed = fs::read_dir(&sources).map_err(|error| failed(&sources, &error))?;
        for file in listed.flatten() {
            fs::copy(file.path(), folder.join(file.file_name()))
                .map_err(|error| failed(&file.path(), &error))?;
        }
        Ok(())
    }

    /// Whether the lock file of the last installation equals ours.
    fn is_installed(&self) -> bool {
        let ours = fs::read(root().join(self.sources).join(LOCK)).ok();
        let noted = fs::read(self.folder.join("node_modules").join(LOCK)).ok();
        ours.is_some() && ours == noted
    }
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn runs(program: impl AsRef<OsStr>) -> bool {
    let status = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Runs a command, and returns whether it succeeded.
pub fn succeeds(command: &mut Command) -> Result<bool, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status();
    let status = status.map_err(|error| format!("{program}: {error}"))?;
    Ok(status.success())
}
