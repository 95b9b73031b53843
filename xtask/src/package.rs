//! The Python package sd-jwt, which tests cross our SD-JWT VCs with: a Python environment under `target/`.

use std::path::{Path, PathBuf};

use crate::{python, workspace::root};

/// The variable that tells tests where the environment's Python is.
const VARIABLE: &str = "SELFSAME_SD_JWT_PYTHON";
const PACKAGE: &str = "sd-jwt";
const VERSION: &str = "0.10.4";

/// By the whole workspace's features, they are built once with all other tests.
const CROSS: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "package",
    "--",
    "--ignored",
];

/// The tests with the package.
pub fn cross() -> Result<bool, String> {
    prepare()?;
    python::test(CROSS, VARIABLE, &folder())
}

/// Sees to it that the environment is there, and makes it if not.
fn prepare() -> Result<(), String> {
    let folder = folder();
    if is_ready(&folder) {
        println!("    {PACKAGE} {VERSION} is in {}", folder.display());
        return Ok(());
    }
    println!("    missing: the Python package {PACKAGE} {VERSION} (tests only)");
    python::make(&folder, &[&format!("{PACKAGE}=={VERSION}")])?;
    if is_ready(&folder) {
        return Ok(());
    }
    Err(format!(
        "{PACKAGE} {VERSION} was installed, but Python does not find it\nhint: remove {} and try again",
        folder.display()
    ))
}

fn folder() -> PathBuf {
    root().join("target").join("sd-jwt")
}

fn is_ready(folder: &Path) -> bool {
    let script = format!(
        "import importlib.metadata as m, sd_jwt.issuer; assert m.version('{PACKAGE}') == '{VERSION}'"
    );
    python::runs(folder, &script)
}
