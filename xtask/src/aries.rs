//! Agents of other implementations: ACA-Py in a Python environment under `target/`, Credo in a Node.js folder there.
//! Tests let them connect with ours, issue to it, hold and prove.

use std::{path::PathBuf, process::Command};

use crate::{
    askar, machine,
    node::{Packages, succeeds},
    python,
    workspace::{cargo, root},
};

/// The environment variables with the folder of Credo's packages and with that of the libraries they call, for tests.
const CREDO: &str = "SELFSAME_CREDO";
const LIBRARIES: &str = "SELFSAME_CREDO_LIBRARIES";
/// The libraries, each with its hash. Credo's packages would download them when they are installed.
pub const LIBRARY_REQUIREMENTS: &str = "crates/selfsame/tests/aries/credo/requirements.txt";
/// The packages by which Node.js calls libraries. They are compiled here, since they ship no binaries.
const COMPILED: [&str; 2] = ["@2060.io/ref-napi", "@2060.io/ffi-napi"];
/// Prints the folder that has the headers of Node.js below it.
const PREFIX: &str = "console.log(require('path').resolve(process.execPath, '../..'))";

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &["test", "--workspace", "--test", "aries", "--", "--ignored"];
/// The tests with ACA-Py that `cargo xtask test` runs: each side issues, holds, proves and verifies.
const SHORT: &[&str] = &["python::acapy_holds", "python::we_hold"];

/// Runs the tests with every implementation.
pub fn cross() -> Result<bool, String> {
    prepare_credo()?;
    run(&[], true)
}

/// Runs the tests with ACA-Py.
pub fn cross_acapy() -> Result<bool, String> {
    run(&["python::"], false)
}

/// Runs those of them that `cargo xtask test` runs.
pub fn cross_shortly() -> Result<bool, String> {
    run(SHORT, false)
}

/// Runs the tests with Credo.
pub fn cross_credo() -> Result<bool, String> {
    prepare_credo()?;
    run(&["npm::"], true)
}

fn run(names: &[&str], with_credo: bool) -> Result<bool, String> {
    askar::prepare_agent()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).args(names).current_dir(root());
    askar::name_agent_to(&mut command);
    if with_credo {
        command.env(CREDO, packages().folder);
        command.env(LIBRARIES, site_packages()?);
    }
    succeeds(&mut command)
}

/// Installs Credo's packages and the libraries that they call, unless they are already there.
fn prepare_credo() -> Result<(), String> {
    let packages = packages();
    packages.prepare()?;
    libraries().prepare()?;
    let built = packages
        .folder
        .join("node_modules/@2060.io/ffi-napi/build/Release");
    if built.join("ffi_bindings.node").exists() {
        return Ok(());
    }
    let prefix = said("node", &["-e", PREFIX])?;
    let prefix = prefix.lines().next().unwrap_or_default();
    if !PathBuf::from(prefix)
        .join("include/node/node_api.h")
        .exists()
    {
        machine::install(&["libnode-dev", "g++", "make"])?;
    }
    println!("    compiling {}", COMPILED.join(" and "));
    let mut npm = Command::new("npm");
    npm.arg("rebuild").arg(format!("--nodedir={prefix}"));
    npm.args(COMPILED);
    match succeeds(npm.current_dir(&packages.folder))? {
        true => Ok(()),
        false => Err(
            "`npm rebuild` failed\nhint: it needs the headers of Node.js, g++, make and Python"
                .to_owned(),
        ),
    }
}

fn packages() -> Packages {
    Packages {
        name: "@credo-ts",
        folder: root().join("target").join("credo"),
        sources: "crates/selfsame/tests/aries/credo",
        step: "oracle",
    }
}

fn libraries() -> python::Pinned {
    python::Pinned {
        name: "aries-askar for Credo",
        folder: root().join("target").join("credo-libraries"),
        requirements: LIBRARY_REQUIREMENTS,
        script: "import aries_askar, anoncreds",
        further: &[],
    }
}

/// Where the environment's packages are.
fn site_packages() -> Result<PathBuf, String> {
    let python = libraries().folder.join("bin").join("python");
    let script = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let found = said(&python.display().to_string(), &["-c", script])?;
    Ok(PathBuf::from(found.trim()))
}

/// What a program prints.
fn said(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
