//! Stores for the tests, all with the same master key.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::Backend;
use selfsame_store::{NewOutbox, Store, Vault};

pub fn vault() -> Vault {
    Vault::from_master(SealingKey::from_bytes([1; 32]))
}

/// The store on a back end.
pub async fn open(backend: Arc<dyn Backend>) -> Store {
    Store::open(backend, vault()).await.unwrap()
}

/// The store at an address, which no other process uses.
pub async fn database(url: &str) -> Store {
    let address = Address::parse(url).unwrap();
    let backend = Postgres::open(&address, 2, Company::Alone).await.unwrap();
    open(Arc::new(backend)).await
}

/// A call that is due at once, with its subject as the instructions.
pub fn call(subject: &str) -> NewOutbox {
    NewOutbox {
        destination: "there".to_owned(),
        subject: subject.to_owned(),
        key: "once".to_owned(),
        payload: subject.as_bytes().to_vec(),
        not_before: UnixTime(0),
    }
}
