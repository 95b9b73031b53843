//! Instances for the tests: their records in a file or in PostgreSQL, each with a master key of its own.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use selfsame_anoncreds::cl::revocation::{TAIL_LENGTH, TAILS_VERSION, TailsHash};
use selfsame_anoncreds_wallet::revocation::moving;
use selfsame_audit::Trail;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType, SecretString};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_moving::{
    Arrived, ExportTerms, Exported, ImportTerms, KeptIn, Leaving, MoveError, RowSource,
    TenantExport, TenantImport,
};
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::{Backend, STORE_FILE};
use selfsame_store::{Batch, NewOutbox, Put, Sqlite, Store, StoreError, Tag, TenantId};
use serde_json::json;
use tempfile::TempDir;

use crate::server::Server;

/// The tenant of the organisation `acme`.
pub const ACME: &str = "o-0123456789abcdef0123456789abcdef";

pub fn acme() -> TenantId {
    TenantId::parse(ACME).unwrap()
}

pub fn passphrase() -> SecretString {
    SecretString::from("rain on the roof")
}

/// An instance.
pub struct Home {
    _folder: TempDir,
    pub source: RowSource,
}

/// Opens the file once a store that was just dropped has let go of it.
async fn opened(file: &Path) -> Sqlite {
    for _ in 0..1_000 {
        match Sqlite::open(file) {
            Err(StoreError::InUse(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
            opened => return opened.unwrap(),
        }
    }
    panic!("{} stays in use", file.display());
}

impl Home {
    fn new(kept_in: impl FnOnce(&TempDir) -> KeptIn) -> Self {
        static MASTERS: AtomicU64 = AtomicU64::new(0);
        let mut master = [5; 32];
        master[..8].copy_from_slice(&MASTERS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        let folder = tempfile::tempdir().unwrap();
        let kept_in = kept_in(&folder);
        Self {
            source: RowSource {
                kept_in,
                master: SealingKey::from_bytes(master),
            },
            _folder: folder,
        }
    }

    pub fn in_a_file() -> Self {
        Self::new(|folder| KeptIn::File(folder.path().join(STORE_FILE)))
    }

    pub fn in_postgres() -> Self {
        let url = Server::shared().fresh();
        Self::new(|_| KeptIn::Database(Box::new(Address::parse(&url).unwrap())))
    }

    pub async fn open(&self) -> Store {
        let backend: Arc<dyn Backend> = match &self.source.kept_in {
            KeptIn::File(file) => Arc::new(opened(file).await),
            KeptIn::Database(address) => {
                let opened = Postgres::open(address, 2, Company::Shared).await;
                Arc::new(opened.unwrap())
            }
        };
        Store::open(backend, self.source.vault()).await.unwrap()
    }

    /// Gives it the organisation `acme` in this state, with everything that a tenant can have.
    pub async fn with_acme(self, state: &str, cards: u32) -> Self {
        let store = self.open().await;
        let organisation = json!({
            "tenant": ACME, "title": "Acme", "issuer": true, "verifier": true,
            "state": state, "created": 1, "did": "did:web:acme.example",
        });
        let organisation = serde_json::to_vec(&organisation).unwrap();
        let batch = Batch::new(TenantId::instance());
        let batch = batch.put(Put::new("organisation", "acme", organisation));
        store.commit(batch).await.unwrap();
        // A neighbour, of whom nothing may move.
        fill(&store, &TenantId::parse("o-2").unwrap(), 20).await;
        fill(&store, &acme(), cards).await;
        self
    }

    /// Gives `acme` revocation registries with these tails files.
    pub async fn with_tails(self, files: &[Vec<u8>]) -> Self {
        let store = self.open().await;
        for (number, bytes) in files.iter().enumerate() {
            let id = format!("did:selfsame:acme/registry/{number}");
            let record = json!({"id": id, "tails_hash": tails_hash(bytes)});
            let record = serde_json::to_vec(&record).unwrap();
            let put = Put::new("anoncreds_registry", number.to_string(), record);
            store.commit(Batch::new(acme()).put(put)).await.unwrap();
            let kept = moving::arrival(&store, &acme(), bytes).await.unwrap();
            store.commit(kept.unwrap()).await.unwrap();
        }
        drop(store);
        self
    }

    /// Writes the file of `acme`.
    pub async fn export(&self) -> Result<File, MoveError> {
        let name = OrganisationName::parse("acme").unwrap();
        let leaving = {
            let store = self.open().await;
            let leaving = Leaving::prepare(&store, &name).await?;
            let trail = Trail::new(store.clone(), Clock::default());
            leaving.note(&store, &trail).await?;
            leaving
        };
        let mut text = Vec::new();
        let terms = ExportTerms {
            passphrase: &passphrase(),
            now: now(),
            tell: &|_, _| {},
        };
        let export = TenantExport::of_rows(&leaving, &self.source, &mut text, &terms).await?;
        let exported = export.finish(&self.open().await).await?;
        Ok(File { text, exported })
    }

    /// Takes a file in as the command does.
    pub async fn import(&self, text: &[u8]) -> Result<Arrived, MoveError> {
        let mut import = TenantImport::open(text, &passphrase())?;
        let terms = ImportTerms {
            source: &self.source,
            now: now(),
            tell: &|_, _| {},
        };
        let filled = import.fill(&self.open().await, &terms).await?;
        if filled.is_whole() {
            import.compare(&self.source, &filled).await?;
        }
        let store = self.open().await;
        let trail = Trail::new(store.clone(), Clock::default());
        import.finish(&store, &trail, filled).await
    }
}

/// A tails file with this number of points.
pub fn tails(points: usize, byte: u8) -> Vec<u8> {
    [TAILS_VERSION.to_vec(), vec![byte; points * TAIL_LENGTH]].concat()
}

pub fn tails_hash(bytes: &[u8]) -> String {
    let mut hasher = TailsHash::new();
    hasher.update(bytes);
    hasher.finish()
}

/// The file of a moved tenant.
pub struct File {
    pub text: Vec<u8>,
    pub exported: Exported,
}

pub fn now() -> UnixTime {
    Clock::default().now()
}

/// The key of `acme` that signs.
pub async fn handle(store: &Store) -> KeyHandle {
    let kept = store.read(&acme(), "named", "key").await.unwrap().unwrap();
    String::from_utf8(kept.value).unwrap().parse().unwrap()
}

async fn fill(store: &Store, tenant: &TenantId, cards: u32) {
    for first in (0..cards).step_by(100) {
        let mut batch = Batch::new(tenant.clone()).event("issued", &first.to_string());
        for number in first..cards.min(first + 100) {
            let value = number.to_be_bytes().repeat(number as usize % 50);
            let put = Put::new("card", number.to_string(), value);
            let put = put.tag(Tag::hashed("parity", (number % 2).to_string()));
            let put = put.tag(Tag::plain("number", format!("{number:05}")));
            batch = batch.put(match number % 10 {
                3 => put.expires(now().plus(86_400)),
                4 => put.expires(UnixTime(2)),
                _ => put,
            });
        }
        store.commit(batch).await.unwrap();
    }
    let keys = Keys::new(store.clone());
    let batch = Batch::new(tenant.clone());
    let created = keys.create(tenant, KeyType::Ed25519, batch).unwrap();
    let (_, handle, batch) = created;
    let name = handle.as_str().as_bytes().to_vec();
    let batch = batch.put(Put::new("named", "key", name));
    let batch = batch.enqueue(call("first")).enqueue(call("second"));
    let calls = store.commit(batch).await.unwrap().outbox;
    let buried = Batch::new(tenant.clone()).bury(calls[1], "in vain");
    store.commit(buried).await.unwrap();
    store.allocate(tenant, "places", 5).await.unwrap();
}

fn call(subject: &str) -> NewOutbox {
    NewOutbox {
        destination: "there".to_owned(),
        subject: subject.to_owned(),
        key: "once".to_owned(),
        payload: subject.as_bytes().to_vec(),
        not_before: UnixTime(0),
    }
}
