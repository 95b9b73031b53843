//! The second implementation of the paper's TLS messages, in Python, which tests speak with: what it stands on is
//! installed under `target/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{python, workspace::root};

/// The variable that tells tests where the environment's Python is.
const VARIABLE: &str = "SELFSAME_SECOND_PYTHON";
/// What is installed, each package by its hash.
const REQUIREMENTS: &str = "crates/selfsame-tls/tests/second/requirements.txt";

/// By the whole workspace's features, they are built once with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--lib",
    "--",
    "--ignored",
    "python::",
];

/// The tests with the second implementation.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Sees to it that the environment is there, and makes it if not.
fn prepare() -> Result<(), String> {
    let folder = folder();
    let wanted = root().join(REQUIREMENTS);
    let installed = folder.join("requirements.txt");
    if is_same(&wanted, &installed) && is_ready(&folder) {
        println!("    tlslite-ng is in {}", folder.display());
        return Ok(());
    }
    println!(
        "    missing: the Python package tlslite-ng (the second implementation stands on it, tests only)"
    );
    let wanted_text = wanted.display().to_string();
    python::make(
        &folder,
        &[
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "--requirement",
            &wanted_text,
        ],
    )?;
    if !is_ready(&folder) {
        return Err(format!(
            "tlslite-ng was installed, but Python does not find it\nhint: remove {} and try again",
            folder.display()
        ));
    }
    fs::copy(&wanted, &installed)
        .map(|_| ())
        .map_err(|error| format!("{}: {error}", installed.display()))
}

fn folder() -> PathBuf {
    root().join("target").join("second")
}

fn is_ready(folder: &Path) -> bool {
    python::runs(folder, "import ecdsa, tlslite.recordlayer")
}

/// Whether what was installed is what is wanted now.
fn is_same(wanted: &Path, installed: &Path) -> bool {
    match (fs::read(wanted), fs::read(installed)) {
        (Ok(wanted), Ok(installed)) => wanted == installed,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_by_a_hash() {
        let text = fs::read_to_string(root().join(REQUIREMENTS)).unwrap();
        let packages: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(packages.len(), 3);
        for package in packages {
            assert!(package.contains("==") && package.contains("--hash=sha256:"));
        }
    }

    #[test]
    fn another_list_is_installed_anew() {
        let list = root().join(REQUIREMENTS);
        assert!(is_same(&list, &list));
        assert!(!is_same(&list, &root().join("Cargo.toml")));
        assert!(!is_same(&list, Path::new("/nowhere")));
    }
}
