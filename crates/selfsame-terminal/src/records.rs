//! The records in a data directory: opens them with the master key, and explains why they can't be opened.

use std::path::Path;
use std::sync::Arc;

use selfsame_driver::data_directory::unusable;
use selfsame_store::backend::STORE_FILE;
use selfsame_store::{Sqlite, Store};

use crate::exit::Failure;
use crate::master_key::Custody;
use crate::next_key;

/// Opens the records in a data directory.
///
/// # Errors
/// If another process has them open, or they can't be read with this key.
pub async fn open(data: &Path, custody: &Custody) -> Result<Store, Failure> {
    let vault = next_key::vault(custody, data)?;
    let backend = Sqlite::open(data.join(STORE_FILE)).map_err(|error| unusable(data, &error))?;
    let store = Store::open(Arc::new(backend), vault).await;
    Ok(store.map_err(|error| unusable(data, &error))?)
}

#[cfg(test)]
mod tests {
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
                master_key_pkcs11: None,
            };
            let refused = master_key(empty).custody(data).err().unwrap();
            assert!(refused.what_to_do().unwrap().contains("unset"));

            let sealed_with = Custody::Passphrase(empty.to_owned().into());
            drop(open(data, &sealed_with).await.unwrap());
            let custody = master_key(empty).custody(data).unwrap();
            assert!(open(data, &custody).await.is_ok());
            let other = master_key("rain on the roof").custody(data).unwrap();
            assert!(open(data, &other).await.is_err());
        }
    }
}
