//! Python environments under `target/`, for what tests compare ours with.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    machine,
    workspace::{cargo, root},
};

/// Makes the environment anew and installs into it what `pip install` gets these arguments for.
pub fn make(folder: &Path, what: &[&str]) -> Result<(), String> {
    if !has_venv() {
        machine::install(&["python3", "python3-venv"])?;
    }
    println!("    installing it with pip into {}", folder.display());
    let environment = folder.display().to_string();
    must_run("python3", &["-m", "venv", "--clear", &environment])?;
    let fixed = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    must_run(
        &program(folder).display().to_string(),
        &[&fixed[..], what].concat(),
    )
}

/// Whether the environment is there and runs this script.
pub fn runs(folder: &Path, script: &str) -> bool {
    quietly(&program(folder), &["-c", script])
}

/// Names the environment to a command's children, if there is one.
pub fn name_to(command: &mut Command, variable: &str, folder: &Path) {
    let python = program(folder);
    if python.exists() {
        command.env(variable, python);
    }
}

/// Runs the tests that these arguments of cargo name, with the environment named to them.
pub fn test(arguments: &[&str], variable: &str, folder: &Path) -> Result<bool, String> {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(root());
    name_to(&mut command, variable, folder);
    let status = command
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}

fn program(folder: &Path) -> PathBuf {
    folder.join("bin").join("python")
}

/// Debian has `venv` without what fills it, so both are asked for.
fn has_venv() -> bool {
    quietly(Path::new("python3"), &["-c", "import venv, ensurepip"])
}

fn quietly(program: &Path, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn must_run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!(
            "`{program} {}` failed\nhint: run it by hand to see why, or leave the comparison out: cargo xtask test --skip oracle",
            arguments.join(" ")
        )),
        Err(error) => Err(format!("`{program}`: {error}")),
    }
}
