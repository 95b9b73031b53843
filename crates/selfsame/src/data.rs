//! The data directory: opens its records and its ledger, and explains why they cannot be opened.

use std::path::Path;
use std::sync::Arc;

use selfsame_app::backup::{LEDGER_FILE, STORE_FILE};
use selfsame_store::ledger::{LedgerStore, SqliteLedger};
use selfsame_store::{Sqlite, Store, StoreError, Vault};

use crate::exit::Failure;
use crate::master_key::{self, Custody};

/// The records in a data directory.
///
/// # Errors
/// If another process has them open, or they can't be read with this key.
pub async fn store(data: &Path, custody: &Custody) -> Result<Store, Failure> {
    let vault = Vault::from_master(master_key::load(custody, data)?);
    let backend = Sqlite::open(data.join(STORE_FILE)).map_err(|error| unusable(data, &error))?;
    (Store::open(Arc::new(backend), vault).await).map_err(|error| unusable(data, &error))
}

/// The ledger in a data directory.
///
/// # Errors
/// If another process has it open, or it can't be read.
pub fn ledger(data: &Path) -> Result<Arc<dyn LedgerStore>, Failure> {
    let ledger = SqliteLedger::open(data.join(LEDGER_FILE));
    Ok(Arc::new(ledger.map_err(|error| unusable(data, &error))?))
}

/// Why the data can't be used, and what to do about it.
pub fn unusable(data: &Path, error: &StoreError) -> Failure {
    Failure::environment(format!("{}: {error}", data.display())).hint(match error {
        StoreError::WrongKey => {
            "use the master key that these data were written with: --master-key-file, or SELFSAME_PASSPHRASE"
        }
        StoreError::OtherLayout { .. } => {
            "start the release that wrote these data, or name another directory with --data"
        }
        StoreError::Tampered(_) => {
            "find the damage: selfsame check --data (docs/check.md); then restore a copy: selfsame restore"
        }
        StoreError::Foreign(_) => "name another directory with --data",
        StoreError::Full(_) | StoreError::Storage(_) => {
            "check that its disk has free space and is writable, or name another directory with --data"
        }
        _ => "another process uses this directory: stop it first, or name another directory with --data",
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::master_key::MasterKey;

    /// Earlier builds accepted an empty passphrase, and data sealed with it can be opened only with it.
    #[tokio::test]
    async fn an_empty_passphrase_opens_what_was_sealed_with_it_and_begins_nothing() {
        for empty in ["", "  "] {
            let folder = tempfile::tempdir().unwrap();
            let data = folder.path();
            let master_key = |passphrase: &str| MasterKey {
                master_key_file: None,
                passphrase: Some(passphrase.to_owned()),
            };
            let refused = master_key(empty).custody(data).err().unwrap();
            assert!(refused.what_to_do().unwrap().contains("unset"));

            let sealed_with = Custody::Passphrase(empty.to_owned().into());
            drop(store(data, &sealed_with).await.unwrap());
            let custody = master_key(empty).custody(data).unwrap();
            assert!(store(data, &custody).await.is_ok());
            let other = master_key("rain on the roof").custody(data).unwrap();
            assert!(store(data, &other).await.is_err());
        }
    }

    #[test]
    fn data_that_cannot_be_opened_say_whether_the_disk_or_another_process_is_in_the_way() {
        let hint = |error| {
            let failure = unusable(Path::new("data"), &error);
            failure.what_to_do().unwrap().to_owned()
        };
        let full = hint(StoreError::Storage("database or disk is full".to_owned()));
        assert!(
            full.contains("free space") && !full.contains("process"),
            "{full}"
        );
        assert!(hint(StoreError::InUse(PathBuf::new())).contains("stop it first"));
    }
}
