//! The fixtures of the suite.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::Backend;
use selfsame_store::ledger::{LedgerStore, MemoryLedger, SqliteLedger};
use selfsame_store::{Memory, Record, Result, Sqlite, Store, TenantId, Vault};
use tempfile::TempDir;

/// The start time of the suite's clock.
pub const START: u64 = 1_700_000_000;

/// A back end with a clock that the check sets.
pub struct Ground {
    kind: Kind,
    clock: Arc<AtomicU64>,
}

enum Kind {
    Memory(Arc<Memory>),
    Sqlite(TempDir),
}

impl Ground {
    pub fn memory() -> Self {
        Self {
            kind: Kind::Memory(Arc::new(Memory::new())),
            clock: Arc::new(AtomicU64::new(START)),
        }
    }

    pub fn sqlite() -> Self {
        Self {
            kind: Kind::Sqlite(TempDir::new().unwrap()),
            clock: Arc::new(AtomicU64::new(START)),
        }
    }

    /// Another empty back end of this kind.
    pub fn another(&self) -> Self {
        match self.kind {
            Kind::Memory(_) => Self::memory(),
            Kind::Sqlite(_) => Self::sqlite(),
        }
    }

    /// Opens the back end, possibly again; the one opened before must have been dropped.
    pub fn backend(&self) -> Arc<dyn Backend> {
        match &self.kind {
            Kind::Memory(memory) => memory.clone(),
            Kind::Sqlite(dir) => Arc::new(Sqlite::open(dir.path().join("store.db")).unwrap()),
        }
    }

    pub async fn store(&self) -> Store {
        self.front(self.backend()).await
    }

    pub async fn front(&self, backend: Arc<dyn Backend>) -> Store {
        self.front_under(backend, [1; 32]).await.unwrap()
    }

    pub async fn front_under(&self, backend: Arc<dyn Backend>, master: [u8; 32]) -> Result<Store> {
        let clock = self.clock.clone();
        let now = Arc::new(move || UnixTime(clock.load(Ordering::SeqCst)));
        Store::open_with_clock(
            backend,
            Vault::from_master(SealingKey::from_bytes(master)),
            now,
        )
        .await
    }

    pub fn ledger(&self) -> Arc<dyn LedgerStore> {
        match &self.kind {
            Kind::Memory(_) => Arc::new(MemoryLedger::new()),
            Kind::Sqlite(dir) => {
                Arc::new(SqliteLedger::open(dir.path().join("ledger.db")).unwrap())
            }
        }
    }

    /// The data files; empty for a back end without files.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Memory(_) => Vec::new(),
            Kind::Sqlite(dir) => std::fs::read_dir(dir.path())
                .unwrap()
                .map(|file| file.unwrap().path())
                .collect(),
        }
    }

    pub fn now(&self) -> UnixTime {
        UnixTime(self.clock.load(Ordering::SeqCst))
    }

    pub fn wait(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
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
