//! Messages in files and pipes.

use std::io::Read;
use std::path::{Path, PathBuf};

use selfsame_anoncreds::Error;
use selfsame_anoncreds::format::{Message, Text as _};
use selfsame_crypto::ctx::Ctx;

use crate::exit::Failure;
use crate::{master_key, output};

/// More than any message, so that a pipe without end is not read for ever.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a message from its file; `-` is standard input.
pub fn read<M: Message>(file: &Path) -> Result<M, Failure> {
    M::from_json(text(file)?.as_bytes()).map_err(|error| of_file(file, &error))
}

/// Reads a message from its file, or from standard input if no file is named.
pub fn read_or_pipe<M: Message>(file: Option<&PathBuf>) -> Result<M, Failure> {
    read(file.map_or(Path::new("-"), PathBuf::as_path))
}

/// A file's text; `-` is standard input.
pub fn text(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().take(MOST_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(file)
            .and_then(|opened| opened.take(MOST_BYTES).read_to_string(&mut text))
    };
    read.map_err(|error| Failure::environment(format!("{}: {error}", file.display())))?;
    Ok(text)
}

/// Prints a message.
pub fn print<M: Message>(message: &M) -> Result<(), Failure> {
    output::say(message.to_json()?.as_json());
    Ok(())
}

/// Writes a message that only its owner may read into a new file.
pub fn keep<M: Message>(file: &Path, message: &M) -> Result<(), Failure> {
    master_key::write_private(file, message.to_json()?.as_json().as_bytes())
}

/// Writes a message that anybody may read.
pub fn put<M: Message>(file: &Path, message: &M) -> Result<(), Failure> {
    std::fs::write(file, message.to_json()?.as_json())
        .map_err(|error| Failure::environment(format!("{}: {error}", file.display())))
}

/// The time and the randomness of one step.
pub fn ctx() -> Ctx {
    selfsame_app::clock::Clock::default().ctx()
}

/// A value under a name: `NAME=VALUE`, split at the first `=`.
pub fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("this wants NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A file under an identifier: `ID=FILE`, split at the last `=`, since an identifier may have one.
pub fn identified(text: &str) -> Result<(String, PathBuf), String> {
    let (id, file) = text.rsplit_once('=').ok_or("this wants ID=FILE")?;
    Ok((id.to_owned(), PathBuf::from(file)))
}

fn of_file(file: &Path, error: &Error) -> Failure {
    Failure::environment(format!("{}: {error}", file.display()))
}

impl From<Error> for Failure {
    /// What another party sent and does not hold is a proper no; what is named wrongly is the caller's.
    fn from(error: Error) -> Self {
        match error {
            Error::Issuer(_) | Error::Proof(_) | Error::Unsatisfied { .. } | Error::Registry(_) => {
                Self::no(error.to_string())
            }
            _ => Self::environment(error.to_string()),
        }
    }
}
