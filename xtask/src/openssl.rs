//! OpenSSL as a baseline of `selfsame bench tls`: a program of its own for one end of a connection, built into
//! `target/` and not part of the product.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    lint, machine,
    workspace::{cargo, root},
};

/// The environment variable with the path of the program, for tests.
const VARIABLE: &str = "SELFSAME_OPENSSL_END";
const MANIFEST: &str = "crates/selfsame-bench/openssl/Cargo.toml";
const PROGRAM: &str = "selfsame-openssl-end";
/// The packages with OpenSSL's headers, and with the program that tells a build where they are.
const PACKAGES: [&str; 2] = ["libssl-dev", "pkg-config"];

/// Builds the program; installs OpenSSL's headers if they are missing.
pub fn prepare() -> Result<(), String> {
    if !has_headers() {
        println!(
            "    missing: OpenSSL's headers (the baseline of the TLS bench is built with them)"
        );
        machine::install(&PACKAGES)?;
    }
    let mut command = Command::new(cargo());
    command
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--manifest-path",
        ])
        .arg(root().join(MANIFEST))
        .arg("--target-dir")
        .arg(folder());
    match succeeds(lint::without(&mut command))? {
        true => Ok(()),
        false => Err("the end with OpenSSL was not built".to_owned()),
    }
}

/// `cargo xtask bench tls [FLAGS]`: runs `selfsame bench tls` with OpenSSL as a baseline and passes the flags on.
pub fn bench(flags: &[String]) -> Result<bool, String> {
    prepare()?;
    let mut command = Command::new(cargo());
    command
        .args(["run", "--quiet", "--release", "--package", "selfsame", "--"])
        .args(["bench", "tls", "--openssl"])
        .arg(program())
        .args(flags)
        .current_dir(root());
    succeeds(&mut command)
}

/// Sets the environment variable with the program's path, if the program is built.
pub fn name_to(command: &mut Command) {
    if program().exists() {
        command.env(VARIABLE, program());
    }
}

fn program() -> PathBuf {
    folder().join("release").join(PROGRAM)
}

fn folder() -> PathBuf {
    root().join("target").join("openssl-end")
}

fn has_headers() -> bool {
    let asked = Command::new("pkg-config")
        .args(["--exists", "openssl"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success()) || Path::new("/usr/include/openssl/ssl.h").exists()
}

fn succeeds(command: &mut Command) -> Result<bool, String> {
    let status = command
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}
