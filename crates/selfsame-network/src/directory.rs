//! Data directories: only their owner can read them. Directories with other people's files are left alone. Opens the
//! ledger in one.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;

use selfsame_abci::Home;
use selfsame_driver::data_directory::{KEY_FILE, SALT_FILE, TOKEN_FILE, WRAPPED_FILE, unusable};
use selfsame_store::backend::STORE_FILE;
use selfsame_store::ledger::{LEDGER_FILE, LedgerStore, SqliteLedger};

use crate::NetworkError;

/// The folder of a network.
pub const NETWORK_FOLDER: &str = "network";
/// The folder where a network is created, so that an incomplete one is never used.
pub(crate) const UNFINISHED_NETWORK: &str = "network.unfinished";
/// The folder where a ledger is built until all of it is verified.
pub(crate) const UNFINISHED_LEDGER: &str = "ledger.unfinished";

/// A data directory in use has one of these files at least, unless it holds a network; no other software uses the
/// names.
const OURS: [&str; 8] = [
    STORE_FILE,
    LEDGER_FILE,
    UNFINISHED_LEDGER,
    KEY_FILE,
    SALT_FILE,
    WRAPPED_FILE,
    TOKEN_FILE,
    UNFINISHED_NETWORK,
];
/// Present on a new disk.
const NOBODYS: &str = "lost+found";

/// Creates a directory that only its owner can read, or makes one private that is empty or ours.
///
/// # Errors
/// If it can't be created, or if others can read it and it has files that are not ours.
pub fn take(path: &Path) -> Result<(), NetworkError> {
    let wrong = |error: io::Error| {
        NetworkError::environment(format!("{}: {error}", path.display()))
            .hint("name another directory with --data")
    };
    if !path.exists() {
        if path.is_symlink() {
            let link = path.display();
            return Err(NetworkError::environment(format!(
                "{link}: the target of this symbolic link does not exist"
            ))
            .hint("create the target directory, or name another with --data"));
        }
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
        return Err(NetworkError::environment(format!(
            "{}: the directory contains files that are not an instance's, and would become private",
            path.display()
        ))
        .hint("name an empty or new directory with --data; or make this one private yourself: chmod 700"));
    }
    std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(wrong)
}

/// The ledger in a data directory.
///
/// # Errors
/// If another process has it open, or it can't be read.
pub fn ledger(data: &Path) -> Result<Arc<dyn LedgerStore>, NetworkError> {
    let ledger = SqliteLedger::open(data.join(LEDGER_FILE));
    Ok(Arc::new(ledger.map_err(|error| unusable(data, &error))?))
}

fn is_free(path: &Path) -> io::Result<bool> {
    let has_ours = OURS.iter().any(|name| path.join(name).exists());
    if has_ours || is_node(path) || has_network(path)? {
        return Ok(true);
    }
    for entry in std::fs::read_dir(path)? {
        if entry?.file_name() != NOBODYS {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Other software has a `node.json` of its own, so the folder must open as a node's.
fn is_node(path: &Path) -> bool {
    Home::open(path).is_ok()
}

/// Other directories have a folder `network` too, such as `/etc`; ours contains the folders of nodes.
fn has_network(path: &Path) -> io::Result<bool> {
    let network = path.join(NETWORK_FOLDER);
    if !network.is_dir() {
        return Ok(false);
    }
    for entry in std::fs::read_dir(network)? {
        if is_node(&entry?.path()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use selfsame_abci::{Addresses, Beginning, Member, Network};
    use selfsame_crypto::time::UnixTime;
    use selfsame_registry::Rules;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_link_that_leads_nowhere_is_said_to_be_one() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("data");
        std::os::unix::fs::symlink(folder.path().join("disk"), &link).unwrap();
        let failure = take(&link).unwrap_err();
        assert!(
            failure
                .message()
                .contains("target of this symbolic link does not exist"),
            "{failure:?}"
        );
        std::fs::create_dir(folder.path().join("disk")).unwrap();
        take(&link).unwrap();
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

    /// Creates a network of one node in a folder.
    fn found(network: &Path) {
        let beginning = Beginning {
            name: "test".to_owned(),
            time: UnixTime(0),
            rules: Rules::default(),
            authorities: Vec::new(),
        };
        let member = Member {
            name: "node".to_owned(),
            addresses: Addresses {
                p2p: ([127, 0, 0, 1], 1).into(),
                rpc: ([127, 0, 0, 1], 2).into(),
            },
        };
        Network::create(network, beginning, &[member]).unwrap();
    }

    #[test]
    fn a_network_and_a_node_are_known_by_what_is_in_them_and_not_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let open = || std::fs::set_permissions(data, Permissions::from_mode(0o755)).unwrap();
        open();
        std::fs::create_dir_all(data.join("network/if-up.d")).unwrap();
        std::fs::write(data.join("node.json"), "{}").unwrap();
        assert!(take(data).is_err());
        assert_eq!(mode(data), 0o755);
        found(&data.join("network"));
        take(data).unwrap();
        assert_eq!(mode(data), 0o700);
        let home = data.join("network/node");
        std::fs::set_permissions(&home, Permissions::from_mode(0o755)).unwrap();
        take(&home).unwrap();
        assert_eq!(mode(&home), 0o700);
    }

    #[test]
    fn a_directory_with_what_others_keep_is_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("letters"), "").unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let refused = take(folder.path()).unwrap_err();
        assert_eq!(refused.who(), selfsame_driver::WhoActs::Caller);
        assert!(refused.what_to_do().unwrap().contains("--data"));
        assert_eq!(mode(folder.path()), 0o755);
        // A directory that is private already is accepted whatever it holds.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        take(folder.path()).unwrap();
    }
}
