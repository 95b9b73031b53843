//! CometBFT, the consensus engine of the registry's networks: one pinned release, built with the Go toolchain into
//! `target/`.
//!
//! 0.38.26 is the newest release of the line that is maintained longest and that other networks run on. It has every
//! feature that is used here (ABCI 2.0 with vote extensions), is as fast as 0.40.0, and needs only Go 1.22.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{machine, workspace::root};

/// The environment variable with the path of the engine, for tests.
const VARIABLE: &str = "SELFSAME_COMETBFT";
/// The environment variable with the path of Go, for tests that speak TLS with Go.
const GO_VARIABLE: &str = "SELFSAME_GO";
const MODULE: &str = "github.com/cometbft/cometbft";
const VERSION: &str = "v0.38.26";
/// The hash of the module's files from the Go checksum database. The binary contains it.
const HASH: &str = "h1:MIPYgOSvyyiN1jo3SZljKy4ZXqs896aQnj3pQFfUmaE=";
/// The oldest Go that builds the engine, from its go.mod.
const GO: GoVersion = GoVersion(1, 22);
/// From this version on, Go downloads the toolchain that a module requires.
const GO_FETCHES: GoVersion = GoVersion(1, 21);

/// A version of Go: major, minor.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct GoVersion(pub u32, pub u32);

/// Builds the engine, unless it is already there.
pub fn prepare() -> Result<bool, String> {
    let program = program();
    if is_ours(&program)? {
        println!("    CometBFT {VERSION} is {}", program.display());
        return oracle();
    }
    let toolchain = toolchain(GO)?;
    println!(
        "    building CometBFT {VERSION} into {} (some minutes)",
        folder().display()
    );
    let package = format!("{MODULE}/cmd/cometbft@{VERSION}");
    let mut command = go();
    command
        .args(["install", &package])
        .env("GOBIN", folder())
        .env("GOFLAGS", "")
        .stdin(Stdio::null());
    if let Some(toolchain) = toolchain {
        command.env("GOTOOLCHAIN", toolchain);
    }
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(_) => {
            return Err(format!(
                "`go install {package}` failed\nhint: run it by hand to see why; it needs the network once"
            ));
        }
        Err(error) => return Err(format!("go: {error}")),
    }
    if is_ours(&program)? {
        return oracle();
    }
    Err(format!(
        "what was built is not CometBFT {VERSION} with the module hash {HASH}\nhint: remove {} and try again",
        folder().display()
    ))
}

/// Builds the oracle that our copies of the engine's rules are compared with. Its go.sum pins the same module.
fn oracle() -> Result<bool, String> {
    let source = root().join("crates/selfsame-abci/oracle");
    build(&source, &folder().join("validators"), GO)
}

/// Builds a program of ours in Go, whose go.sum pins what it stands on. It needs this version of Go, or one that fetches
/// it.
pub fn build(source: &Path, program: &Path, needed: GoVersion) -> Result<bool, String> {
    build_package(source, program, ".", needed)
}

/// Builds a package that a folder's go.mod names the version of.
pub fn build_package(
    source: &Path,
    program: &Path,
    package: &str,
    needed: GoVersion,
) -> Result<bool, String> {
    let toolchain = toolchain(needed)?;
    let mut command = go();
    command
        .args(["build", "-o"])
        .arg(program)
        .arg(package)
        .current_dir(source)
        .env("GOFLAGS", "-mod=readonly")
        .stdin(Stdio::null());
    if let Some(toolchain) = toolchain {
        command.env("GOTOOLCHAIN", toolchain);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(true),
        Ok(_) => Err(format!("`go build` failed in {}", source.display())),
        Err(error) => Err(format!("go: {error}")),
    }
}

/// Runs `cargo xtask cometbft`.
pub fn command(arguments: &[String]) -> Result<bool, String> {
    match arguments {
        [] => prepare(),
        _ => Err("usage: cargo xtask cometbft".to_owned()),
    }
}

/// Sets the environment variables for Go and, if it is built, the engine.
pub fn name_to(command: &mut Command) {
    command.env(GO_VARIABLE, go_program());
    if program().exists() {
        command.env(VARIABLE, program());
    }
}

/// Whether the file was built from the pinned module, which the Go toolchain records in the binary.
fn is_ours(program: &Path) -> Result<bool, String> {
    if !program.exists() {
        return Ok(false);
    }
    if go_version().is_none() {
        install_go()?;
    }
    let output = go()
        .args(["version", "-m"])
        .arg(program)
        .output()
        .map_err(|error| format!("go: {error}"))?;
    Ok(is_pinned(&String::from_utf8_lossy(&output.stdout)))
}

/// Whether the output of `go version -m` names the pinned module with its hash and without a replacement.
fn is_pinned(said: &str) -> bool {
    let mut lines = said.lines().map(|line| line.split_whitespace().collect());
    let main = |words: &Vec<&str>| words.first() == Some(&"mod");
    lines.find(main) == Some(vec!["mod", MODULE, VERSION, HASH]) && !said.contains("\t=>\t")
}

/// Installs Go if it is missing. Returns the `GOTOOLCHAIN` to set if the installed Go is too old.
fn toolchain(needed: GoVersion) -> Result<Option<String>, String> {
    if go_version().is_none() {
        install_go()?;
    }
    let there = go_version().ok_or("Go was installed, but `go version` says nothing")?;
    match there {
        enough if enough >= needed => Ok(None),
        fetches if fetches >= GO_FETCHES => Ok(Some("auto".to_owned())),
        GoVersion(major, minor) => Err(format!(
            "Go {major}.{minor} is too old: {}.{} is needed, and this one does not fetch a newer one by itself\nhint: on Debian 12, apt-get install -t bookworm-backports golang-go; elsewhere the system's newer release or Go's own archive, first on PATH",
            needed.0, needed.1
        )),
    }
}

fn go() -> Command {
    Command::new(go_program())
}

/// Go from `PATH`, or from the folder into which Go's own archive is unpacked.
fn go_program() -> PathBuf {
    let archive = Path::new("/usr/local/go/bin/go");
    let on_path = Command::new("go").arg("version").output().is_ok();
    if !on_path && archive.exists() {
        return archive.to_owned();
    }
    PathBuf::from("go")
}

fn install_go() -> Result<(), String> {
    println!(
        "    missing: Go (builds CometBFT, a collector of traces and a server of ACME, and speaks TLS with ours)"
    );
    machine::install(&["golang-go"])
}

/// The version of the installed Go.
fn go_version() -> Option<GoVersion> {
    let output = go().arg("version").output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// Parses output such as `go version go1.22.5 linux/amd64`.
fn parse_version(said: &str) -> Option<GoVersion> {
    let version = said.split_whitespace().nth(2)?.strip_prefix("go")?;
    let mut parts = version.split(['.', 'r', 'b', '-']);
    let (major, minor) = (parts.next()?, parts.next()?);
    Some(GoVersion(major.parse().ok()?, minor.parse().ok()?))
}

fn folder() -> PathBuf {
    root().join("target").join("cometbft")
}

fn program() -> PathBuf {
    folder().join("cometbft")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_says_its_version() {
        assert_eq!(
            parse_version("go version go1.22.5 linux/amd64"),
            Some(GoVersion(1, 22))
        );
        assert_eq!(
            parse_version("go version go1.26rc1 linux/amd64"),
            Some(GoVersion(1, 26))
        );
        assert_eq!(parse_version("no such command"), None);
    }

    #[test]
    fn only_the_pinned_module_is_taken() {
        let said = |version: &str, hash: &str, more: &str| {
            format!(
                "cometbft: go1.22.5\n\tpath\t{MODULE}/cmd/cometbft\n\tmod\t{MODULE}\t{version}\t{hash}\n{more}"
            )
        };
        assert!(is_pinned(&said(VERSION, HASH, "")));
        assert!(!is_pinned(&said("v0.38.25", HASH, "")));
        assert!(!is_pinned(&said(VERSION, "h1:other=", "")));
        assert!(!is_pinned(&said(VERSION, "", "")));
        let replaced = "\t=>\texample.org/other\tv1.0.0\th1:other=\n";
        assert!(!is_pinned(&said(VERSION, HASH, replaced)));
        assert!(!is_pinned(""));
    }
}
