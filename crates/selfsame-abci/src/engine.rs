//! The engine's program: the required release, and the check that a file is it.

mod build;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use selfsame_driver::{Error, Result};
use tokio::process::Command;

/// The required release of CometBFT; `cargo xtask cometbft` builds it.
const VERSION: &str = "0.38.26";
const NAME: &str = "cometbft";

/// CometBFT's program.
#[derive(Clone, Debug)]
pub struct Engine {
    program: PathBuf,
}

impl Engine {
    /// The program at `path`, if it is the required release.
    ///
    /// # Errors
    /// `BadRequest` with a hint if it is missing or another release.
    pub async fn at(path: &Path) -> Result<Self> {
        let asked = Command::new(path)
            .arg("version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await;
        let output = asked.map_err(|error| {
            missing(format!(
                "CometBFT does not start: {}: {error}",
                path.display()
            ))
        })?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if version != VERSION {
            return Err(missing(format!(
                "{} is not CometBFT {VERSION}",
                path.display()
            )));
        }
        is_of_the_module(path).await?;
        Ok(Self {
            program: path.to_owned(),
        })
    }

    /// The program in the first of these folders that has it.
    ///
    /// # Errors
    /// `BadRequest` with a hint if none of them has it.
    pub async fn find(folders: impl IntoIterator<Item = PathBuf>) -> Result<Self> {
        let mut programs = folders.into_iter().map(|folder| folder.join(NAME));
        match programs.find(|program| program.is_file()) {
            Some(program) => Self::at(&program).await,
            None => Err(missing("CometBFT was not found".to_owned())),
        }
    }

    /// The program's path.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// Checks that the file was built from the pinned module. A program without such a record, or built from a checkout, is
/// accepted with a warning.
async fn is_of_the_module(path: &Path) -> Result<()> {
    let program = tokio::fs::read(path).await;
    let program = program.map_err(|error| missing(format!("{}: {error}", path.display())))?;
    match build::main_module(&program) {
        Some(module) if module == build::PINNED => Ok(()),
        Some(module) if module.hash.is_some() => Err(missing(format!(
            "{} is not built from CometBFT {VERSION}, but from {} {}",
            path.display(),
            module.path,
            module.version
        ))),
        _ => {
            tracing::warn!(program = %path.display(), "the engine has no record of the module that it was built from; that it is CometBFT {VERSION} can't be verified");
            Ok(())
        }
    }
}

fn missing(reason: String) -> Error {
    Error::bad_request("engine-missing")
        .with("detail", &reason)
        .with("version", VERSION)
}
