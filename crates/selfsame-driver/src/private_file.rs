//! Files that hold one secret: written so that only their owner can read them, and refused if others can read them.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use selfsame_crypto::SecretString;

use crate::{Error, Reason, Result};

/// The permission bits of the group and of others.
const OTHERS: u32 = 0o077;
/// The same bits without the group's permission to read.
const OTHERS_BUT_READERS: u32 = 0o037;
/// Maximum length of a secret, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Writes a new file that only its owner can read, durably.
///
/// # Errors
/// If it exists or can't be written.
pub fn write(file: &Path, content: &[u8]) -> Result<()> {
    let wrong = |error: std::io::Error| unreadable(file, &error);
    let mut written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .map_err(wrong)?;
    written.write_all(content).map_err(wrong)?;
    written.sync_all().map_err(wrong)
}

/// Makes a file readable only by its owner.
///
/// # Errors
/// If it does not exist, or has another owner.
pub fn close(file: &Path) -> Result<()> {
    std::fs::set_permissions(file, Permissions::from_mode(0o600))
        .map_err(|error| unreadable(file, &error))
}

/// Reads the secret from a file that holds nothing else, without surrounding white space.
///
/// # Errors
/// If it can't be read, is empty, or is readable by others than its owner. `advice` says what to do if the file is
/// missing or wrong.
pub fn read(file: &Path, advice: Reason) -> Result<SecretString> {
    let shown = file.display();
    let io = |error: std::io::Error| {
        Error::bad_request("secret-unreadable")
            .with("file", &shown)
            .with("detail", &error)
            .with_reason("advice", advice.clone())
    };
    let opened = File::open(file).map_err(io)?;
    let metadata = opened.metadata().map_err(io)?;
    let reader = rustix::process::geteuid().as_raw();
    // A pipe is private to its process.
    if metadata.is_file() && is_open(metadata.mode(), metadata.uid(), reader) {
        return Err(Error::bad_request("secret-open").with("file", &shown));
    }
    let mut text = String::new();
    opened.take(LONGEST).read_to_string(&mut text).map_err(io)?;
    if text.trim().is_empty() {
        return Err(Error::bad_request("secret-empty")
            .with("file", &shown)
            .with_reason("advice", advice));
    }
    Ok(SecretString::new(text.trim().to_owned()))
}

/// Whether anyone but the file's owner and its reader can read it. Root may share a file with the reader through the
/// group, as Kubernetes does with the secrets it mounts.
fn is_open(mode: u32, owner: u32, reader: u32) -> bool {
    let others = match (owner, reader) {
        (0, 1..) => OTHERS_BUT_READERS,
        _ => OTHERS,
    };
    mode & others != 0
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::bad_request("file-unusable")
        .with("file", &file.display())
        .with("detail", error)
}

#[cfg(test)]
mod tests {
    use std::fs::set_permissions;

    use super::*;

    fn advice() -> Reason {
        Reason::text("write it")
    }

    #[test]
    fn a_secret_is_read_back_by_its_owner_and_by_no_other_user() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        write(&file, b"rain\n").unwrap();
        assert_eq!(read(&file, advice()).unwrap().expose(), "rain");
        assert_eq!(file.metadata().unwrap().permissions().mode() & OTHERS, 0);
        assert!(write(&file, b"sun").is_err(), "it is never written over");
    }

    #[test]
    fn only_root_may_give_a_secret_to_the_readers_group() {
        let (root, reader, other) = (0, 1_000, 2_000);
        for mode in [0o600, 0o400, 0o640, 0o440] {
            assert!(!is_open(mode, root, reader), "{mode:o}");
        }
        for mode in [0o644, 0o660, 0o444, 0o650, 0o604] {
            assert!(is_open(mode, root, reader), "{mode:o}");
        }
        for (owner, reader) in [
            (root, root),
            (reader, reader),
            (other, reader),
            (other, root),
        ] {
            assert!(is_open(0o640, owner, reader), "{owner} {reader}");
            assert!(!is_open(0o600, owner, reader), "{owner} {reader}");
        }
    }

    #[test]
    fn a_secret_that_is_empty_or_that_others_can_read_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        write(&file, b" \n").unwrap();
        let empty = read(&file, advice()).unwrap_err();
        let told = |error: &Error| error.reason.parameter("advice").map(ToString::to_string);
        assert_eq!(empty.reason.id(), "secret-empty");
        assert_eq!(told(&empty).as_deref(), Some("write it"));
        std::fs::write(&file, "rain").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o666] {
            set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let open = read(&file, advice()).unwrap_err();
            assert_eq!(open.reason.id(), "secret-open", "{mode:o}");
            assert!(!open.to_string().contains("rain"), "{open:?}");
        }
        set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
        assert_eq!(read(&file, advice()).unwrap().expose(), "rain");
        let missing = read(&folder.path().join("none"), advice()).unwrap_err();
        assert_eq!(missing.reason.id(), "secret-unreadable");
        assert_eq!(told(&missing).as_deref(), Some("write it"));
    }
}
