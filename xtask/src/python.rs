//! Python environments under `target/`, for the packages that tests compare ours with.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    machine,
    workspace::{cargo, root},
};

/// Creates a new environment and runs `pip install` in it with these arguments.
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

/// An environment with the packages of a requirements file, each pinned by its hash.
pub struct Pinned {
    /// The name to show to people.
    pub name: &'static str,
    /// The folder under `target/`.
    pub folder: PathBuf,
    /// The requirements file, as a path from the root of the workspace.
    pub requirements: &'static str,
    /// A script that runs only if the environment is complete.
    pub script: &'static str,
    /// Further arguments of `pip install`.
    pub further: &'static [&'static str],
}

impl Pinned {
    /// Creates the environment, unless it exists and matches the current requirements file.
    pub fn prepare(&self) -> Result<(), String> {
        let Self { name, folder, .. } = self;
        let wanted = root().join(self.requirements);
        let installed = folder.join("requirements.txt");
        if is_same(&wanted, &installed) && runs(folder, self.script) {
            println!("    {name} is in {}", folder.display());
            return Ok(());
        }
        println!("    missing: the Python package {name} (tests only)");
        let wanted_text = wanted.display().to_string();
        let fixed = ["--require-hashes", "--no-deps", "--only-binary=:all:"];
        make(
            folder,
            &[&fixed[..], self.further, &["--requirement", &wanted_text]].concat(),
        )?;
        if !runs(folder, self.script) {
            return Err(format!(
                "{name} was installed, but Python does not find it\nhint: remove {} and try again",
                folder.display()
            ));
        }
        fs::copy(&wanted, &installed)
            .map(|_| ())
            .map_err(|error| format!("{}: {error}", installed.display()))
    }
}

/// Whether the installed requirements equal the wanted ones.
fn is_same(wanted: &Path, installed: &Path) -> bool {
    let wanted = fs::read(wanted).ok();
    wanted.is_some() && wanted == fs::read(installed).ok()
}

/// Whether the environment exists and can run this script.
pub fn runs(folder: &Path, script: &str) -> bool {
    quietly(&program(folder), &["-c", script])
}

/// Sets `variable` to the environment's Python, if there is one.
pub fn name_to(command: &mut Command, variable: &str, folder: &Path) {
    let python = program(folder);
    if python.exists() {
        command.env(variable, python);
    }
}

/// Runs cargo with these arguments and with `variable` set to the environment's Python.
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

/// Debian packages `venv` without `ensurepip`, which `venv` needs, so both are imported.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aries, askar, clients, didcomm, mail, mdoc, package, parties, second, webvh};

    #[test]
    fn every_package_is_pinned_by_a_hash() {
        for (list, count) in [
            (second::REQUIREMENTS, 3),
            (package::REQUIREMENTS, 7),
            (clients::REQUIREMENTS, 28),
            (askar::REQUIREMENTS, 1),
            (askar::AGENT_REQUIREMENTS, 84),
            (aries::LIBRARY_REQUIREMENTS, 2),
            (didcomm::REQUIREMENTS, 14),
            (mdoc::REQUIREMENTS, 13),
            (webvh::REQUIREMENTS, 18),
            (mail::REQUIREMENTS, 3),
            (parties::REQUIREMENTS, 17),
        ] {
            let text = fs::read_to_string(root().join(list)).unwrap();
            let text = text.replace("\\\n", "");
            let packages: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert_eq!(packages.len(), count, "{list}");
            for package in packages {
                assert!(package.contains("==") && package.contains("--hash=sha256:"));
            }
        }
    }

    #[test]
    fn another_list_is_installed_anew() {
        let list = root().join(second::REQUIREMENTS);
        assert!(is_same(&list, &list));
        assert!(!is_same(&list, &root().join(package::REQUIREMENTS)));
        assert!(!is_same(&list, Path::new("/nowhere")));
    }
}
