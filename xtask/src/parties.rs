//! Relying parties made by others, which tests let people sign in at: oauth2-proxy, and applications in Flask with
//! Authlib, in Express with Passport and in Spring Boot. Go, pip and npm check each package by its hash; Maven takes the
//! versions that the Spring Boot of the project names, and checks what it fetches.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    engine::{self, GoVersion},
    machine,
    node::{Packages, succeeds},
    python,
    workspace::{cargo, root},
};

/// The environment variables with what is prepared, for tests.
const PROXY: &str = "SELFSAME_PARTY_PROXY";
const PYTHON: &str = "SELFSAME_PARTY_PYTHON";
const NODE: &str = "SELFSAME_PARTY_NODE";
const JAVA: &str = "SELFSAME_PARTY_JAVA";
/// The folder of our own files.
const SOURCES: &str = "crates/selfsame/tests/parties";
/// The packages of Python, each with its hash.
pub const REQUIREMENTS: &str = "crates/selfsame/tests/parties/python/requirements.txt";
/// The proxy's package; the go.mod beside our files has its version.
const PROXY_PACKAGE: &str = "github.com/oauth2-proxy/oauth2-proxy/v7";
/// The oldest Go that builds it.
const GO: GoVersion = GoVersion(1, 26);
/// What builds the application in Java, and its Debian packages.
const JAVA_PROGRAMS: [(&str, &str); 2] = [("javac", "default-jdk-headless"), ("mvn", "maven")];

/// With the whole workspace's features, these tests share one build with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "parties",
    "--",
    "--ignored",
];

/// Prepares the relying parties, and lets people sign in at them.
pub fn cross() -> Result<bool, String> {
    let proxy = folder("oauth2-proxy");
    println!("    building oauth2-proxy (two minutes the first time)");
    engine::build_package(&source("proxy"), &proxy, PROXY_PACKAGE, GO)?;
    let environment = python::Pinned {
        name: "Authlib",
        folder: folder("python"),
        requirements: REQUIREMENTS,
        script: "import authlib.integrations.flask_client, flask",
        further: &[],
    };
    environment.prepare()?;
    let packages = Packages {
        name: "of an application in Express",
        folder: folder("node"),
        sources: "crates/selfsame/tests/parties/node",
        step: "relying-parties",
    };
    packages.prepare()?;
    let archive = java()?;
    let mut command = Command::new(cargo());
    command.args(CROSS).current_dir(root());
    python::name_to(&mut command, PYTHON, &environment.folder);
    command.env(NODE, &packages.folder).env(PROXY, &proxy);
    succeeds(command.env(JAVA, &archive))
}

/// Builds the application in Java with Maven, unless it is built of these files already.
fn java() -> Result<PathBuf, String> {
    let missing = JAVA_PROGRAMS
        .iter()
        .filter(|(name, _)| !machine::runs(name));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        machine::install(&missing)?;
    }
    let folder = folder("java");
    println!("    building an application in Spring Boot with Maven");
    copy(&source("java"), &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut maven = Command::new("mvn");
    let fixed = ["--batch-mode", "--quiet", "--strict-checksums", "package"];
    maven.args(fixed).current_dir(&folder).stdin(Stdio::null());
    match succeeds(&mut maven)? {
        true => Ok(folder.join("target").join("party.jar")),
        false => Err(format!("`mvn package` failed in {}", folder.display())),
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            false => fs::copy(entry.path(), to).map(|_| ())?,
        }
    }
    Ok(())
}

fn source(name: &str) -> PathBuf {
    root().join(SOURCES).join(name)
}

fn folder(name: &str) -> PathBuf {
    root().join("target").join("parties").join(name)
}
