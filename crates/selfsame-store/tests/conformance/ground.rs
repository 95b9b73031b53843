//! The fixtures of the suite.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::Backend;
use selfsame_store::rotation::{FoundKeys, MasterKeySource};
use selfsame_store::{Record, Result, Store, TenantId, Vault};

/// The start time of the suite's clock.
pub const START: u64 = 1_700_000_000;

/// A back end with a clock that the check sets.
pub struct Ground {
    home: Box<dyn Home>,
    clock: Arc<AtomicU64>,
}

/// Where a back end keeps its data.
#[async_trait]
pub trait Home: Send + Sync {
    /// Opens the back end. The one opened before must have been dropped.
    async fn open(&self) -> Arc<dyn Backend>;
    /// Another, empty one.
    fn another(&self) -> Box<dyn Home>;
    /// The data files; none for a back end without files.
    async fn files(&self) -> Vec<PathBuf>;
}

impl Ground {
    pub fn at(home: Box<dyn Home>) -> Self {
        Self {
            home,
            clock: Arc::new(AtomicU64::new(START)),
        }
    }

    /// Another empty back end of this kind.
    pub fn another(&self) -> Self {
        Self::at(self.home.another())
    }

    /// Opens the back end, possibly again; the one opened before must have been dropped.
    pub async fn backend(&self) -> Arc<dyn Backend> {
        self.home.open().await
    }

    pub async fn store(&self) -> Store {
        self.front(self.backend().await).await
    }

    pub async fn front(&self, backend: Arc<dyn Backend>) -> Store {
        self.front_under(backend, [1; 32]).await.unwrap()
    }

    pub async fn front_under(&self, backend: Arc<dyn Backend>, master: [u8; 32]) -> Result<Store> {
        self.front_with(backend, &[master]).await
    }

    /// A store by a process that has these master keys.
    pub async fn front_with(
        &self,
        backend: Arc<dyn Backend>,
        masters: &[[u8; 32]],
    ) -> Result<Store> {
        let clock = self.clock.clone();
        let now = Arc::new(move || UnixTime(clock.load(Ordering::SeqCst)));
        let keys = Arc::new(Masters(masters.to_vec()));
        Store::open_with_clock(backend, Vault::from_source(keys), now).await
    }

    /// The data files; empty for a back end without files.
    pub async fn files(&self) -> Vec<PathBuf> {
        self.home.files().await
    }

    pub fn now(&self) -> UnixTime {
        UnixTime(self.clock.load(Ordering::SeqCst))
    }

    pub fn wait(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// Master keys, the present one first.
struct Masters(Vec<[u8; 32]>);

impl MasterKeySource for Masters {
    fn find(&self) -> FoundKeys {
        let keys = self.0.iter().copied().map(SealingKey::from_bytes);
        FoundKeys {
            keys: keys.collect(),
            next: String::new(),
        }
    }
}

/// A record as if read with this version.
pub fn read_as(id: &str, version: u64) -> Record {
    Record {
        id: id.to_owned(),
        value: vec![],
        version,
        expires: None,
        seq: 0,
    }
}

pub fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}
