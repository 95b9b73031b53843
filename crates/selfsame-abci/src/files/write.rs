//! Files and folders that are created once and never overwritten.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind as Io, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use selfsame_driver::{Error, ErrorKind, Result};

/// Creates a folder that only this user can access, and the folders above it if they are missing.
pub(super) fn folder(path: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| failed(path, &error))
}

/// Writes a file that everyone may read.
pub(super) fn public(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes, 0o644)
}

/// Writes a file that only this user can access.
pub(super) fn secret(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes, 0o600)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(mode).open(path);
    let written = opened.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    match error.kind() {
        Io::AlreadyExists => {
            Error::new(ErrorKind::Conflict, "file-exists").with("file", &path.display())
        }
        _ => Error::bad_request("file-unwritten")
            .with("file", &path.display())
            .with("detail", error),
    }
}
