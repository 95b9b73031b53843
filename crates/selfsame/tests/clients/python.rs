//! The client in Python, which openapi-python-client makes.

use std::path::PathBuf;
use std::process::Command;

use crate::{description, drive, run};

#[test]
#[ignore = "needs packages of Python: cargo xtask cross clients runs it"]
fn a_client_in_python_issues_presents_and_verifies() {
    let python = PathBuf::from(
        std::env::var_os("SELFSAME_CLIENT_PYTHON")
            .expect("where the packages are: cargo xtask cross clients says so"),
    );
    let program = |name: &str| Command::new(python.with_file_name(name));
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients/python");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(sources.join("client.py"), folder.path().join("client.py")).unwrap();
    run(program("openapi-python-client")
        .arg("generate")
        .arg("--path")
        .arg(description())
        .arg("--config")
        .arg(sources.join("generator.yml"))
        .args(["--meta", "none", "--output-path", "selfsame_client"])
        .current_dir(folder.path()));
    run(program("mypy")
        .args(["--strict", "client.py"])
        .current_dir(folder.path()));
    drive(
        Command::new(&python)
            .arg("client.py")
            .current_dir(folder.path()),
    );
}
