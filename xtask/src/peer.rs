//! The npm packages @openid4vc, in a Node.js folder under `target/`: tests run our OpenID4VC against them. Versions and
//! digests are those of `package-lock.json`.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    machine,
    workspace::{cargo, root},
};

/// The environment variable with the peer's folder, for tests.
const VARIABLE: &str = "SELFSAME_OPENID4VC_PEER";
const SOURCES: &str = "crates/selfsame/tests/openid4vc/peer";
const LOCK: &str = "package-lock.json";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "openid4vc",
    "--",
    "--ignored",
];

/// Runs the tests with the packages.
pub fn cross() -> Result<bool, String> {
    let folder = folder();
    prepare(&folder)?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    succeeds(command.env(VARIABLE, &folder))
}

/// Copies our files into the folder, and installs the packages unless those of the lock file are already there.
fn prepare(folder: &Path) -> Result<(), String> {
    let is_ready = same(&folder.join("node_modules").join(LOCK));
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let sources = root().join(SOURCES);
    let listed = fs::read_dir(&sources).map_err(|error| format!("{SOURCES}: {error}"))?;
    for file in listed.flatten() {
        fs::copy(file.path(), folder.join(file.file_name()))
            .map_err(|error| format!("{}: {error}", file.path().display()))?;
    }
    if is_ready {
        println!("    the packages @openid4vc are in {}", folder.display());
        return Ok(());
    }
    if !runs("node") || !runs("npm") {
        machine::install(&["nodejs", "npm"])?;
    }
    println!(
        "    installing the packages @openid4vc with npm into {} (tests only)",
        folder.display()
    );
    // Installation scripts of packages are not run.
    let fixed = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let mut npm = Command::new("npm");
    if !succeeds(npm.args(fixed).current_dir(folder))? {
        return Err(
            "`npm ci` failed\nhint: run it by hand to see why, or leave the comparison out: cargo xtask test --skip npm"
                .to_owned(),
        );
    }
    let lock = folder.join(LOCK);
    fs::copy(&lock, folder.join("node_modules").join(LOCK))
        .map(|_| ())
        .map_err(|error| format!("{}: {error}", lock.display()))
}

/// Whether the lock file of the last installation equals ours.
fn same(noted: &Path) -> bool {
    let lock = fs::read(root().join(SOURCES).join(LOCK)).ok();
    lock.is_some() && lock == fs::read(noted).ok()
}

fn folder() -> PathBuf {
    root().join("target").join("openid4vc")
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

fn succeeds(command: &mut Command) -> Result<bool, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status();
    let status = status.map_err(|error| format!("{program}: {error}"))?;
    Ok(status.success())
}
