//! Directories of data: only their owner can look into them, and what others keep there is left alone.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use selfsame_app::copies::{LEDGER_FILE, STORE_FILE};

use crate::exit::Failure;
use crate::instance::TOKEN_FILE;
use crate::master_key::{KEY_FILE, SALT_FILE};

/// What each of our directories has one of at least, however early a start was cut off.
const OURS: [&str; 10] = [
    STORE_FILE,
    LEDGER_FILE,
    "ledger.unfinished",
    KEY_FILE,
    SALT_FILE,
    TOKEN_FILE,
    "tls-key.pem",
    "node.json",
    "network",
    "network.unfinished",
];
/// What a new disk has in it.
const NOBODYS: &str = "lost+found";

/// Makes a directory that only its owner can look into, or closes one that is empty or ours to others.
///
/// # Errors
/// If it can't be made, or if it is open to others and holds what is not ours: theirs, perhaps.
pub fn take(path: &Path) -> Result<(), Failure> {
    let wrong = |error: io::Error| {
        Failure::environment(format!("{}: {error}", path.display()))
            .hint("name another directory with --data")
    };
    if !path.exists() {
        let mut new = DirBuilder::new();
        new.recursive(true).mode(0o700);
        new.create(path).map_err(wrong)?;
    }
    let found = std::fs::metadata(path).map_err(wrong)?;
    if !found.is_dir() {
        return Err(wrong(io::ErrorKind::NotADirectory.into()));
    }
    if found.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    if !is_free(path).map_err(wrong)? {
        return Err(Failure::environment(format!(
            "{}: other files than an instance's are in it, and it would be closed to everybody else",
            path.display()
        ))
        .hint("name an empty or a new directory with --data; or close this one yourself: chmod 700"));
    }
    std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(wrong)
}

fn is_free(path: &Path) -> io::Result<bool> {
    if OURS.iter().any(|name| path.join(name).exists()) {
        return Ok(true);
    }
    for entry in std::fs::read_dir(path)? {
        if entry?.file_name() != NOBODYS {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_that_is_new_empty_or_ours_is_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        take(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        std::fs::create_dir(new.join(NOBODYS)).unwrap();
        for name in OURS {
            std::fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
            take(&new).unwrap();
            assert_eq!(mode(&new), 0o700);
            std::fs::write(new.join(name), "").unwrap();
            std::fs::write(new.join("note"), "").unwrap();
            take(&new).unwrap();
            std::fs::remove_file(new.join(name)).unwrap();
            std::fs::remove_file(new.join("note")).unwrap();
        }
    }

    #[test]
    fn a_directory_with_what_others_keep_is_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("letters"), "").unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let refused = take(folder.path()).unwrap_err();
        assert_eq!(refused.code(), 2);
        assert!(refused.what_to_do().unwrap().contains("--data"));
        assert_eq!(mode(folder.path()), 0o755);
        // Whoever closes it himself means it.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        take(folder.path()).unwrap();
    }
}
