//! The engine's program: which release, and whether a file is it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use selfsame_app::{Error, Result};
use tokio::process::Command;

/// The release of CometBFT this is made for; `cargo xtask cometbft` builds it.
const VERSION: &str = "0.38.26";
const NAME: &str = "cometbft";

/// CometBFT's program.
#[derive(Clone, Debug)]
pub struct Engine {
    program: PathBuf,
}

impl Engine {
    /// The program at `path`, if it is the release this is made for.
    ///
    /// # Errors
    /// `BadRequest` with a hint if it is not there or another release.
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
        Ok(Self {
            program: path.to_owned(),
        })
    }

    /// The program in one of these folders, the first that has it.
    ///
    /// # Errors
    /// `BadRequest` with a hint if none has it.
    pub async fn find(folders: impl IntoIterator<Item = PathBuf>) -> Result<Self> {
        let mut programs = folders.into_iter().map(|folder| folder.join(NAME));
        match programs.find(|program| program.is_file()) {
            Some(program) => Self::at(&program).await,
            None => Err(missing("CometBFT was not found".to_owned())),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

fn missing(reason: String) -> Error {
    Error::bad_request(reason).with_hint(format!(
        "`cargo xtask cometbft` builds CometBFT {VERSION} into target/cometbft"
    ))
}
