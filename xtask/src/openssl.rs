//! OpenSSL as a baseline of `selfsame bench tls`: one end in a program of its own, built into `target/` and no part of
//! the product.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    machine,
    workspace::{cargo, root},
};

/// The variable that tells tests where the program is.
const VARIABLE: &str = "SELFSAME_OPENSSL_END";
const MANIFEST: &str = "crates/selfsame-bench/openssl/Cargo.toml";
const PROGRAM: &str = "selfsame-openssl-end";
/// The headers, and what tells a build where they are.
const PACKAGES: [&str; 2] = ["libssl-dev", "pkg-config"];

/// Sees to it that the program is there; installs OpenSSL's headers if they are missing.
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
    match succeeds(&mut command)? {
        true => Ok(()),
        false => Err("the end with OpenSSL was not built".to_owned()),
    }
}

/// `cargo xtask bench tls [FLAGS]`: `selfsame bench tls` with OpenSSL beside; the flags are the bench's own.
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

/// Names the program to a command's children, if there is one.
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
